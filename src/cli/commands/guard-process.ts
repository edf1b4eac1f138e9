import { systemClock } from '../../core/clock.ts';
import { toIso } from '../../core/time.ts';
import { noteLook } from '../../exec/guard-line.ts';
import { lineWriter } from '../../observe/line-writer.ts';
import { stateDirectory } from '../../state/state-directory.ts';
import { guardHost } from '../../worker/guard.ts';
import { defineCommand } from '../command.ts';
import { GUARD_PROCESS } from '../internal-commands.ts';

/** Runs the guard of a supervisor. Its standard input ends when the supervisor and its workers are gone. */
export default defineCommand({
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
      const line = input.one('line') ?? '';
      await guardHost(stateDirectory(input.one('state') ?? ''), {
        line,
        abandoned,
        staysForCommands: true,
        onLook: (isAbandoned) => noteLook(line, isAbandoned),
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
