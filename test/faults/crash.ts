import type { Running } from '../support/queuectl.ts';
import { unfinished } from './audit.ts';
import type { Lab, Supervisor } from './lab.ts';

const CONFLICT = 4;
const DIED = -1;

/** Kills the first process that reaches the crash point. Later processes live. */
export interface Crash {
  readonly died: boolean;
  /** Runs a command, and repeats it if it died, as a user would who does not know how far it came. */
  run(...args: string[]): Promise<void>;
  supervisor(...args: string[]): Supervisor;
  server(): Running;
  /** Returns whether the process or one of its workers has died by now. */
  look(started: Running): boolean;
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
      if (first.code !== DIED) throw new Error(`${args.join(' ')}: exit ${first.code}: ${first.stderr}`);
      died = true;
      const again = await lab.box.run(args);
      // The repeated command may be refused because the first one had finished its work. No other error is allowed.
      if (again.code !== 0 && again.code !== CONFLICT && again.code !== 3)
        throw new Error(`${args.join(' ')} again: exit ${again.code}: ${again.stderr}`);
    },
    supervisor: (...args) => lab.supervisor(args, env()),
    server: () => lab.box.start(['serve', '--port', '0'], { env: env() }),
    look(started) {
      died ||= started.child.signalCode === 'SIGKILL' || started.output().includes('exited (SIGKILL)');
      return died;
    },
  };
}

/** Waits until every job has ended and `more` holds. A supervisor that died is replaced. */
export async function recovered(
  lab: Lab,
  supervisor: Supervisor,
  more: () => boolean = () => true,
): Promise<void> {
  let replaced = false;
  await lab.rest(() => {
    const dead = supervisor.child.exitCode !== null || supervisor.child.signalCode !== null;
    if (dead && !replaced) {
      lab.supervisor(['--count', '2']);
      replaced = true;
    }
    return unfinished(lab.database) === 0 && more();
  });
}
