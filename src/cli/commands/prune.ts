import { type PrunedJobs, type PruneReport, previewPrune, pruneAll } from '../../actions/prune.ts';
import { formatRetention } from '../../core/rules/retention.ts';
import { formatBytes, formatCount } from '../../core/text/numbers.ts';
import { countOf } from '../../core/text/words.ts';
import { defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { printJson } from '../print/layout.ts';
import { printTable } from '../print/table.ts';

const PROGRESS_MS = 5000;

export default defineCommand({
  name: 'prune',
  summary: 'Remove old jobs and events now',
  access: 'write',
  flags: { 'dry-run': { help: 'show what would be removed without removing anything' } },
  examples: ['queuectl prune --dry-run', 'queuectl prune'],
  notes: [
    'Workers remove old jobs and events automatically. The settings keep-completed, keep-cancelled, keep-dead and keep-events determine what is removed. Only completed, cancelled and dead jobs are removed.',
    'A setting can limit the time since a job finished (7d), the number of jobs (100000), or their total size (1G). The size of a job is its stored output plus 300 bytes. If a limit is exceeded, the oldest jobs are removed. The database file does not shrink, but its free space is reused.',
  ],
  async run({ io, app: open }, input) {
    const dryRun = input.has('dry-run');
    const app = await open();
    const pruned = dryRun ? await previewPrune(app) : await pruneAll(app, progressPrinter(io));
    if (io.json) printJson(io, toObject(pruned, dryRun));
    else print(io, pruned, dryRun);
  },
});

/** Returns a function that prints the number of removed jobs, at most every five seconds. */
function progressPrinter(io: Io): (jobs: number) => void {
  let next = performance.now() + PROGRESS_MS;
  return (jobs) => {
    if (performance.now() < next) return;
    next = performance.now() + PROGRESS_MS;
    io.note(`${countOf(jobs)} removed so far`);
  };
}

function print(io: Io, { states, events }: PruneReport, dryRun: boolean): void {
  const rows = [...states, { state: 'events', keep: events.keep, jobs: events.events, bytes: 0 }];
  printTable(
    io,
    [
      { title: 'STATE', value: (one) => one.state },
      { title: 'LIMIT', value: (one) => formatRetention(one.keep) },
      {
        title: dryRun ? 'TO REMOVE' : 'REMOVED',
        value: (one) => String(one.jobs),
        alignedValue: (one) => formatCount(one.jobs),
      },
      { title: 'OUTPUT', value: (one) => String(one.bytes), alignedValue: (one) => formatBytes(one.bytes) },
    ],
    rows,
  );
  const { jobs, bytes } = sum(states);
  const what = `${countOf(jobs)} with ${formatBytes(bytes)} of output and ${countOf(events.events, 'event')}`;
  io.note(dryRun ? `would remove ${what}` : `removed ${what}`);
}

function toObject({ states, events: { keep: kept, events } }: PruneReport, dryRun: boolean) {
  const each = states.map(({ keep, ...one }) => ({ ...one, keep: formatRetention(keep) }));
  return { dry_run: dryRun, ...sum(states), events, states: each, keep_events: formatRetention(kept) };
}

function sum(states: PrunedJobs[]): { jobs: number; bytes: number } {
  return {
    jobs: states.reduce((total, one) => total + one.jobs, 0),
    bytes: states.reduce((total, one) => total + one.bytes, 0),
  };
}
