import { formatDuration } from '../core/duration.ts';
import { type Finding, ok, warn } from '../core/finding.ts';
import { runsThisExecutable } from '../exec/executable.ts';
import { type Host, knownHost } from '../state/host.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { Store } from '../store/store.ts';
import { hostsOf, onHosts } from './stop-workers.ts';
import { isActive, presence } from './workers.ts';

/** `doctor` warns if a time in the store is further in the future than this. */
const CLOCK_SLACK_MS = 5000;

/** Checks the workers, their jobs and the clock. */
export async function diagnoseWork(store: Store, state: StateDirectory, now: number): Promise<Finding[]> {
  const workers = await store.workers();
  const host = knownHost(state);
  const live = workers.filter((worker) => isActive(worker, host));
  const stale = workers.filter((worker) => !live.includes(worker));
  const liveIds = new Set(live.map((worker) => worker.id));
  const stuck = (await store.runningJobs()).filter((job) => !liveIds.has(job.workerId ?? ''));
  return [
    live.length === 0
      ? warn('workers', 'none running', 'queuectl worker start')
      : ok('workers', `${live.length} running${onHosts(hostsOf(live))}`),
    ...checkExecutables(live, host),
    stale.length === 0
      ? ok('stale workers', 'none')
      : warn(
          'stale workers',
          `${stale.length} stopped without unregistering${onHosts(hostsOf(stale))}`,
          'queuectl worker start',
        ),
    stuck.length === 0
      ? ok('stuck jobs', 'none')
      : warn(
          'stuck jobs',
          `${stuck.length} assigned to a worker that is gone, such as ${stuck[0]!.id}`,
          'queuectl worker start',
        ),
    checkClock(await latestTime(store, workers), now),
  ];
}

function checkExecutables(live: Worker[], host: Host | null): Finding[] {
  const here = live.filter((worker) => presence(worker, host) === 'alive');
  const others = here.filter((worker) => runsThisExecutable(worker.pid) === false);
  if (others.length === 0) return [];
  const pids = others.map((worker) => worker.pid).join(', ');
  const message = `a different queuectl executable is running as process ${pids}`;
  return [warn('version', message, 'queuectl worker stop --leave; queuectl worker start')];
}

/** Returns the latest time in the store: the creation of the newest job, or the last heartbeat. */
async function latestTime(store: Store, workers: Worker[]): Promise<number> {
  const [newest] = await store.list({}, { limit: 1 });
  return Math.max(newest?.createdAt ?? 0, ...workers.map((worker) => worker.lastHeartbeat));
}

/** Warns if the store has a time in the future. Then this clock was set back, or the clock of another machine is wrong. */
function checkClock(latest: number, now: number): Finding {
  const ahead = latest - now;
  if (ahead <= CLOCK_SLACK_MS) return ok('clock', new Date(now).toISOString());
  const text = `${formatDuration(ahead)} behind the latest time in the store`;
  return warn('clock', text, 'timedatectl set-ntp true');
}
