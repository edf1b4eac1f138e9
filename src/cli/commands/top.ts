import { snapshot } from '../../actions/top.ts';
import { toWorkerObject } from '../../actions/workers/workers.ts';
import { usageError } from '../../core/errors.ts';
import { toJobObject } from '../../core/jobs/job-object.ts';
import { toIso } from '../../core/time/time.ts';
import { type Context, defineCommand } from '../frame/command.ts';
import { isTerminal } from '../frame/io.ts';
import { intervalFlag } from '../frame/read-flags.ts';
import { printJson } from '../print/layout.ts';
import { drawScreen } from '../top/frame.ts';
import type { Look } from '../top/line.ts';
import { rateNow, record, type Throughput } from '../top/throughput.ts';
import { startUi } from '../top/ui.ts';

export default defineCommand({
  name: 'top',
  summary: 'Monitor and control the queue on a live screen',
  creates: true,
  flags: {
    interval: { value: 'TIME', help: 'refresh at least this often; changes appear at once (default: 1s)' },
    once: { help: 'print the screen once as text and exit' },
  },
  examples: ['queuectl top', 'queuectl top --interval 5s', 'queuectl top --once', 'queuectl top --json'],
  notes: [
    'Move with Tab, the arrow keys, j and k. Press Enter or l to show the output of the selected job, c to cancel it, r to retry it, and h to hold or release it. Press p to pause or resume its queue, / to filter, ? for help, and q to quit.',
    'Each list shows at most the newest 100 jobs. The counts include all jobs.',
  ],
  async run(context, input) {
    const everyMs = intervalFlag(input, 'interval', 3_600_000) ?? 1000;
    const { io, environment } = context;
    const look = { color: io.color, ascii: wantsAscii(environment) };
    if (io.json || input.has('once')) return printOnce(context, look);
    if (!io.tty || !isTerminal(0) || environment.TERM === 'dumb') {
      throw usageError(
        'top requires a terminal',
        'without a terminal, use queuectl top --once, queuectl status --watch or queuectl status --json',
      );
    }
    const { showTop } = await import('../top/session.ts');
    return showTop(context, everyMs, look);
  },
});

/** Returns true for a locale that is not UTF-8. An unset locale counts as UTF-8. */
function wantsAscii(environment: NodeJS.ProcessEnv): boolean {
  const locale = environment.LC_ALL || environment.LC_CTYPE || environment.LANG || '';
  return locale !== '' && !/utf-?8/i.test(locale);
}

/** Prints one snapshot: as JSON, or as the screen would show it. */
async function printOnce(context: Context, look: Look): Promise<number> {
  const { io } = context;
  const seen = await snapshot(await context.app());
  const { jobs, queues, running, waiting, failures, workers, at: now } = seen;
  const throughput: Throughput = new Map();
  record(throughput, seen.finished, now);
  if (io.json) {
    const object = {
      ...{ at: toIso(now), jobs, queues },
      running: running.map((job) => toJobObject({ ...job, waitingFor: null })),
      waiting: waiting.map(toJobObject),
      failures: failures.map(toJobObject),
      workers: workers.map((worker) => ({ ...toWorkerObject(worker), slots: worker.concurrency })),
      completed_per_second: rateNow(throughput, 'completed', now),
      failed_per_second: rateNow(throughput, 'failed', now),
    };
    printJson(io, object);
    return 0;
  }
  const location = await context.storeName();
  const picture = { snapshot: seen, throughput, ui: startUi(), output: null, now, location, problem: null };
  // The last line lists the keys, which do not work here.
  const lines = drawScreen(picture, io, look).slice(0, -1);
  io.out(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
  return 0;
}
