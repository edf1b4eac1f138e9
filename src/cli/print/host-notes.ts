import type { App } from '../../actions/app.ts';
import { type HostHeartbeat, lastLeaseOf, lateHostsOfJobs } from '../../actions/workers/host-heartbeats.ts';
import { type LeftJobs, onHosts } from '../../actions/workers/stop-workers.ts';
import type { ClaimedJob } from '../../core/jobs/job.ts';
import { countOf } from '../../core/text/words.ts';
import { formatDuration } from '../../core/time/duration.ts';
import type { Io } from '../frame/io.ts';

/* These notes tell what a command waits for, or what it cannot do at once, because a host of the queue does not answer. */

const SECOND_MS = 1000;

/** Notes once for each host that it does not answer, and how long its lease lasts. `worker stop` waits for that. */
export function lateHostNotes(io: Io, app: App): (hosts: HostHeartbeat[]) => void {
  const noted = new Set<string>();
  return (hosts) => {
    for (const host of hosts) {
      if (noted.has(host.name)) continue;
      noted.add(host.name);
      io.note(`${silence(app, host)}; waiting for at most ${longestWait(app, host)}`, 'always');
    }
  };
}

/** Notes that the jobs of hosts which do not answer get a signal later. `ids` are the jobs that will get it. */
export async function noteLateSignals(io: Io, app: App, ids: string[]): Promise<void> {
  for (const host of await lateHostsOfJobs(app, ids))
    io.note(`${silence(app, host)}; its jobs get the signal when it is back`, 'always');
}

/** Notes for each host what a cancel waits for there, and how long at most. */
export async function noteWaitForHosts(io: Io, app: App, jobs: ClaimedJob[]): Promise<void> {
  if (io.json || io.quiet || jobs.length === 0) return;
  for (const [name, running] of Map.groupBy(jobs, (job) => job.otherHost!)) {
    const what = running.length === 1 ? `job ${running[0]!.id}` : countOf(running.length);
    const limit = longestWait(app, { leaseUntil: await lastLeaseOf(app, name) });
    io.note(
      `waiting for host ${name} to stop ${what}. If the host sends no heartbeat, this takes at most ${limit}`,
      'always',
    );
  }
}

/** Describes what becomes of the jobs that `worker stop --leave` has left running. */
export function describeLeftJobs(app: App, { count, hosts, guardedUntil }: LeftJobs): string {
  const seconds = Math.max(0, Math.floor((guardedUntil - app.clock.now()) / SECOND_MS));
  const where = onHosts(hosts);
  const [continues, job, runs] =
    count === 1 ? ['continues', 'the job is', 'runs'] : ['continue', 'the jobs are', 'run'];
  return `${countOf(count)} ${continues} without a worker${where}. Start one ${where === '' ? 'on this host' : 'there'} within ${formatDuration(seconds * SECOND_MS)}, or ${job} stopped and ${runs} again later`;
}

const silence = (app: App, { name, at }: HostHeartbeat): string =>
  `host ${name} has sent no heartbeat for ${formatDuration(app.clock.now() - at)}`;

/** Formats how long a command waits for a host that does not answer. The time is not rounded down. */
function longestWait(app: App, { leaseUntil }: Pick<HostHeartbeat, 'leaseUntil'>): string {
  const seconds = Math.max(1, Math.ceil((leaseUntil - app.clock.now()) / SECOND_MS));
  return formatDuration(seconds * SECOND_MS);
}
