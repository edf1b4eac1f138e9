import type { Running } from '../support/queuectl.ts';
import { countUnfinished } from './audit.ts';
import type { Lab, Supervisor } from './lab.ts';

/** The exit codes for `not found` and for a conflict, which a command returns if its work is already done. */
const ALREADY_DONE_CODES = [3, 4];
const KILLED_CODE = -1;

/** Starts processes. The first one that reaches the crash point is killed, and later ones are not. */
export interface Crash {
  readonly died: boolean;
  /** Runs a command. Repeats it if it was killed, like a user who cannot tell how far it got. */
  run(...args: string[]): Promise<void>;
  supervisor(...args: string[]): Supervisor;
  server(): Running;
  /** Checks whether this process or one of its workers was killed, and returns the new value of `died`. */
  checkDeath(started: Running): boolean;
}

export function crashAt(lab: Lab, point: string): Crash {
  let died = false;
  const env = (): Record<string, string> => (died ? {} : { QUEUECTL_CRASH_AT: point });
  return {
    get died() {
      return died;
    },
    async run(...args) {
      const first = await lab.box.run(args, { env: env() });
      if (first.code === 0) return;
      if (first.code !== KILLED_CODE)
        throw new Error(`${args.join(' ')}: exit ${first.code}: ${first.stderr}`);
      died = true;
      const again = await lab.box.run(args);
      // The repeated command may be refused because the first one had finished its work. No other error is allowed.
      if (again.code !== 0 && !ALREADY_DONE_CODES.includes(again.code))
        throw new Error(`${args.join(' ')} again: exit ${again.code}: ${again.stderr}`);
    },
    supervisor: (...args) => lab.supervisor(args, env()),
    server: () => lab.box.start(['serve', '--port', '0'], { env: env() }),
    checkDeath(started) {
      died ||= started.child.signalCode === 'SIGKILL' || started.output().includes('exited (SIGKILL)');
      return died;
    },
  };
}

/** Waits until every job has ended and `condition` holds. Starts another supervisor if this one died. */
export async function waitForRecovery(
  lab: Lab,
  supervisor: Supervisor,
  condition: () => boolean = () => true,
): Promise<void> {
  let replaced = false;
  await lab.waitForJobs(() => {
    const dead = supervisor.child.exitCode !== null || supervisor.child.signalCode !== null;
    if (dead && !replaced) {
      lab.supervisor(['--count', '2']);
      replaced = true;
    }
    return countUnfinished(lab.database) === 0 && condition();
  });
}
