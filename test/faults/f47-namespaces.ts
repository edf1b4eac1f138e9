import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Fault } from './fault.ts';
import type { Lab, Supervisor } from './lab.ts';
import { gone, groupOf, QUICK, ready, started } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const ELSEWHERE = ['unshare', '-pf', '--mount-proc'];
/** The first process of a namespace ends all others with it, so this one stays. */
const UNDER_INIT = [...ELSEWHERE, 'sh', '-c', '"$@" & sleep 1000', 'sh'];
/** This is well above the lease, so a worker that considers only time would start the job again. */
const SECONDS = 3;

type Scene = (lab: Lab, id: string) => Promise<void>;

/** Kills workers and supervisor outside. Their job continues where the next worker cannot see it. */
const livesOutside: Scene = async (lab, id) => {
  const before = lab.supervisor();
  await killWorkers(lab, id, before);
  await lab.supervisor(['--drain'], {}, ELSEWHERE).exit;
};

/** Kills the job as well. The next worker cannot see that, but it may not wait forever. */
const diesOutside: Scene = async (lab, id) => {
  const before = lab.supervisor();
  const pid = await killWorkers(lab, id, before);
  process.kill(-groupOf(pid), 'SIGKILL');
  await lab.supervisor(['--drain'], {}, ELSEWHERE).exit;
};

/** Kills workers in a namespace of their own, whose processes are visible from outside. */
const livesInside: Scene = async (lab, id) => {
  const before = lab.supervisor([], {}, UNDER_INIT);
  await started(lab, id);
  const [init] = before.workers();
  const [supervisor] = childrenNamed(init!, 'queuectl');
  process.kill(supervisor!, 'SIGKILL');
  await gone([supervisor!]);
  const workers = childrenNamed(init!, 'queuectl');
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await gone(workers);
  await lab.supervisor(['--drain']).exit;
  process.kill(init!, 'SIGKILL');
  await before.exit;
};

/** Ends a whole namespace, as a container does, and starts another one. */
const diesInside: Scene = async (lab, id) => {
  const before = lab.supervisor([], {}, ELSEWHERE);
  await started(lab, id);
  process.kill(before.workers()[0]!, 'SIGKILL');
  await before.exit;
  await lab.supervisor(['--drain'], {}, ELSEWHERE).exit;
};

const SCENES = [livesOutside, diesOutside, livesInside, diesInside];

async function killWorkers(lab: Lab, id: string, supervisor: Supervisor): Promise<number> {
  await ready(supervisor);
  const { pid } = await started(lab, id);
  const workers = supervisor.workers();
  for (const one of [supervisor.pid, ...workers]) process.kill(one, 'SIGKILL');
  await gone(workers);
  return pid;
}

function childrenNamed(pid: number, name: string): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0 && nameOf(child).includes(name));
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0]!;
  } catch {
    return '';
  }
}

/** Runs workers of several pid namespaces on one state directory. None of them sees the processes of all. */
export const namespaces: Fault = {
  id: 'F47',
  title: 'Two pid namespaces share a state directory; workers in one are killed',
  small: 4,
  full: 80,
  missing: () =>
    spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0 ? null : 'no pid namespace to be had',
  run: (rounds, seed, program) => {
    const lives = Array.from({ length: rounds }, (_, i) => i).filter((i) => i % 2 === 0);
    return roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK, once: new Set(lives.map((i) => `j${i}`)) },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(SECONDS) }]);
        await SCENES[round % SCENES.length]!(lab, id);
        const { state } = await lab.box.json<{ state: string }>(['show', id]);
        if (state !== 'completed') throw new Error(`${id} is ${state} after a drain`);
      },
    });
  },
};
