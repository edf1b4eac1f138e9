import { systemClock } from '../../core/clock.ts';
import { lineWriter } from '../../observe/line-writer.ts';
import { logLine } from '../../observe/log.ts';
import { CALL_TIMEOUT_MS } from '../../worker/temporary-errors.ts';
import { newWorkerId } from '../../worker/worker.ts';
import { runWorkerProcess } from '../../worker/worker-process.ts';
import { defineCommand } from '../command.ts';
import { WORKER_PROCESS } from '../internal-commands.ts';

/** Runs one worker process of a supervisor. */
export default defineCommand({
  name: WORKER_PROCESS,
  summary: 'One worker process',
  flags: {
    supervisor: { value: 'ID', help: '' },
    concurrency: { value: 'K', help: '' },
    queue: { value: 'NAME', many: true, help: '' },
    label: { value: 'NAME', many: true, help: '' },
    drain: { help: '' },
    nohup: { help: '' },
    since: { value: 'MS', help: '' },
    'open-files': { value: 'N', help: '' },
    'clean-env': { help: '' },
  },
  examples: [],
  async run(context, input) {
    const log = lineWriter(2);
    const queues = input.all('queue');
    const id = newWorkerId();
    const options = {
      id,
      supervisor: input.one('supervisor') ?? '',
      concurrency: Number(input.one('concurrency') ?? 1),
      queues: queues.length === 0 ? null : queues,
      labels: input.all('label'),
      drain: input.has('drain'),
      openFileLimit: input.one('open-files') ?? null,
      cleanEnv: input.has('clean-env'),
      stopFileSince: Number(input.one('since')) || null,
    };
    try {
      await runWorkerProcess(
        await context.app({ ifMissing: 'refuse', actor: id, callTimeoutMs: CALL_TIMEOUT_MS }),
        options,
        input.has('nohup'),
        (event) => {
          if (!context.io.quiet) log.line(logLine(event, systemClock.now()));
        },
      );
    } finally {
      await log.flushed();
    }
  },
});
