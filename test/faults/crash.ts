import type { Running } from '../support/queuectl.ts';
import { unfinished } from './audit.ts';
import type { Lab, Supervisor } from './lab.ts';

const CONFLICT = 4;
const DIED = -1;

/** One process that is to die at a point: the first that gets there. Those after it live. */
export interface Crash {
  readonly died: boolean;
  /** Runs a command; one that died is done again, as its user would, who cannot know how far it came. */
  run(...args: string[]): Promise<void>;
  supervisor(...args: string[]): Supervisor;
  server(): Running;
  /** Whether it, or a worker of it, has died by now. */
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
      // What had been done before it died may be refused now; nothing else may go wrong.
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

/** Until every job has ended, and what else is to hold; should a supervisor have died, another one takes its place. */
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
