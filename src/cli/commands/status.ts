import type { App } from '../../actions/app.ts';
import { type Status, status } from '../../actions/status.ts';
import { STATES } from '../../core/job.ts';
import { formatCount } from '../../core/numbers.ts';
import { reasonText, WAITING_REASONS, type WaitingReason } from '../../core/waiting-reason.ts';
import { defineCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../layout.ts';
import { TIME_FLAGS } from '../layout-flags.ts';
import { type Column, printTable } from '../table.ts';
import { pad, paint, STATE_COLORS } from '../text.ts';
import { timesFor } from '../times.ts';
import { readWatch, WATCH_FLAG, type WatchedView, watch } from '../watch.ts';
import { WORKER_LIST } from '../worker-table.ts';

export default defineCommand({
  name: 'status',
  summary: 'Show job counts and active workers',
  flags: { watch: WATCH_FLAG, ...TIME_FLAGS },
  prints: { fields: ['jobs', 'total', 'waiting_for', 'workers'] },
  examples: ['queuectl status', 'queuectl status --watch', 'queuectl status --json'],
  notes: [
    'Waiting jobs are counted by the first reason why they are not running. queuectl help filters describes the reasons, and queuectl list --waiting-for lists their jobs.',
  ],
  usageHint: ([first = '']) => (first.startsWith('-') ? undefined : `to show a job: queuectl show ${first}`),
  async run(context, input) {
    const everyMs = readWatch(input);
    const app = await context.app();
    if (everyMs !== null) return watch(context, everyMs, watchedStatus(app));
    print(context.io, await status(app), app.clock.now());
    return 0;
  },
});

function print(io: Io, result: Status, now: number): void {
  if (io.json) {
    io.out(`${jsonText(io, result)}\n`);
    return;
  }
  const width = Math.max(...Object.values(result.jobs).map((jobs) => formatCount(jobs).length));
  for (const state of STATES) {
    const jobs = formatCount(result.jobs[state]);
    const painted = (text: string): string => (io.color ? paint(text, STATE_COLORS[state]!) : text);
    if (!io.tty) io.out(`${painted(state)}\t${result.jobs[state]}\n`);
    else io.out(`${painted(pad(state, 10))}  ${jobs.padStart(width)}\n`);
  }
  if (io.tty) printReasons(io, result);
  if (io.tty)
    io.out(
      `\n${result.workers.length === 0 ? 'no active workers' : `active workers: ${formatCount(result.workers.length)}`}\n`,
    );
  else io.out(`workers\t${result.workers.length}\n`);
  printTable(io, WORKER_LIST.columns(timesFor(io, now)), result.workers);
  // Scripts read the lines by position, so the reasons, which were added later, come last.
  if (!io.tty)
    for (const reason of WAITING_REASONS) io.out(`waiting_for:${reason}\t${result.waiting_for[reason]}\n`);
  if (result.workers.length === 0 && result.jobs.pending > 0)
    io.note('to start a worker: queuectl worker start');
}

/** Prints the reasons why jobs wait, with their counts. */
function printReasons(io: Io, { waiting_for: counts }: Status): void {
  const reasons = WAITING_REASONS.filter((reason) => counts[reason] > 0);
  const columns: Column<WaitingReason>[] = [
    { title: 'WAITING FOR', value: reasonText },
    { title: 'JOBS', value: (reason) => formatCount(counts[reason]), right: true },
  ];
  if (reasons.length > 0) io.out('\n');
  printTable(io, columns, reasons);
}

function watchedStatus(app: App): WatchedView {
  return {
    draw: async (io) => print(io, await status(app), app.clock.now()),
    async items(io) {
      const result = await status(app);
      if (!io.json) {
        const counts = [
          ...STATES.map((state) => [state, result.jobs[state]]),
          ['workers', result.workers.length],
        ];
        return counts.map(([name, count]) => ({ key: String(name), text: `${name}\t${count}` }));
      }
      // Heartbeats and reasons to wait change all the time, so they do not count as a change.
      const { waiting_for: _, ...comparedFields } = result;
      const workers = result.workers.map(({ last_heartbeat, ...worker }) => worker);
      return [
        { key: '', text: jsonText(io, result), compared: jsonText(io, { ...comparedFields, workers }) },
      ];
    },
  };
}
