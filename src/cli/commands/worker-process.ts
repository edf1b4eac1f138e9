import { systemClock } from '../../core/time/clock.ts';
import { toIso } from '../../core/time/time.ts';
import { lineWriter } from '../../observe/line-writer.ts';
import { logLine } from '../../observe/log.ts';
import { stateDirectory } from '../../state/state-directory.ts';
import { CALL_TIMEOUT_MS } from '../../worker/loops.ts';
import { defineCommand, GUARD_PROCESS, WORKER_PROCESS } from '../frame/command.ts';

const worker = defineCommand({
  name: WORKER_PROCESS,
  summary: 'One worker process',
  flags: {
    supervisor: { value: 'ID', help: '' },
    concurrency: { value: 'K', help: '' },
    queue: { value: 'NAME', many: true, help: '' },
    drain: { help: '' },
    nohup: { help: '' },
    since: { value: 'MS', help: '' },
    'open-files': { value: 'N', help: '' },
    'clean-env': { help: '' },
  },
  examples: [],
  async run(context, input) {
    const { newWorkerId } = await import('../../worker/worker.ts');
    const { runWorkerProcess } = await import('../../worker/worker-process.ts');
    const log = lineWriter(2);
    const queues = input.all('queue');
    const id = newWorkerId();
    const options = {
      id,
      supervisor: input.one('supervisor') ?? '',
      concurrency: Number(input.one('concurrency') ?? 1),
      queues: queues.length === 0 ? null : queues,
      drain: input.has('drain'),
      openFileLimit: input.one('open-files') ?? null,
      cleanEnv: input.has('clean-env'),
      stopFileSince: Number(input.one('since')) || null,
    };
    try {
      await runWorkerProcess(
        () => context.app({ ifMissing: 'refuse', actor: id, callTimeoutMs: CALL_TIMEOUT_MS, lasts: true }),
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

/** Runs the guard of a supervisor. Its standard input ends when the supervisor and its workers are gone. */
const guard = defineCommand({
  name: GUARD_PROCESS,
  summary: 'The guard of a supervisor',
  flags: {
    state: { value: 'DIR', help: '' },
    line: { value: 'FILE', help: '' },
  },
  examples: [],
  async run(context, input) {
    const log = lineWriter(2);
    // The guard outlives a stop of everything that it guards, and then ends by itself.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {});
    const abandoned = new Promise<void>((resolve) => {
      process.stdin.once('end', resolve);
      process.stdin.once('error', () => resolve());
      process.stdin.resume();
    });
    try {
      // The guard does not load what only workers need.
      const { guardHost } = await import('../../worker/guard.ts');
      await guardHost(stateDirectory(input.one('state') ?? ''), {
        line: input.one('line') ?? '',
        abandoned,
        log: (line) => {
          if (!context.io.quiet) log.line(`${toIso(systemClock.now())} ${line}`);
        },
      });
    } finally {
      process.stdin.destroy();
      await log.flushed();
    }
  },
});

export default { [WORKER_PROCESS]: worker, [GUARD_PROCESS]: guard };
