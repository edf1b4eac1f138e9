import { spawnSync } from 'node:child_process';
import { argumentsOf } from '../support/processes.ts';
import type { Fault } from './fault.ts';
import { childrenOf, type Lab, type Supervisor } from './lab.ts';
import { groupOf, QUICK_SETTINGS, untilGone, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const IN_NAMESPACE = ['unshare', '-pf', '--mount-proc'];
/** The exit of the first process of a namespace kills all others, so this shell remains the first process. */
const IN_NAMESPACE_WITH_INIT = [...IN_NAMESPACE, 'sh', '-c', '"$@" & sleep 1000', 'sh'];
/** Jobs run for much longer than the lease, so a worker that considers only time would start them again. */
const JOB_SECONDS = 3;

type Scene = (lab: Lab, id: string) => Promise<void>;

/** Kills workers and supervisor. Their job continues, and the next worker, in a namespace, cannot see it. */
const jobSurvivesOutside: Scene = async (lab, id) => {
  const oldSupervisor = lab.supervisor();
  await killWorkers(lab, id, oldSupervisor);
  await lab.supervisor(['--drain'], {}, IN_NAMESPACE).exit;
};

/** Kills the job as well. The next worker, in a namespace, cannot see that, but it must not wait forever. */
const jobDiesOutside: Scene = async (lab, id) => {
  const oldSupervisor = lab.supervisor();
  const pid = await killWorkers(lab, id, oldSupervisor);
  process.kill(-groupOf(pid), 'SIGKILL');
  await lab.supervisor(['--drain'], {}, IN_NAMESPACE).exit;
};

/** Kills workers in a namespace. Their job continues, and the next worker, outside, can see it. */
const jobSurvivesInside: Scene = async (lab, id) => {
  const unshare = lab.supervisor([], {}, IN_NAMESPACE_WITH_INIT);
  await untilStarted(lab, id);
  const [init] = childrenOf(unshare.pid);
  const [supervisor] = queuectlChildrenOf(init!);
  process.kill(supervisor!, 'SIGKILL');
  await untilGone([supervisor!]);
  const workers = queuectlChildrenOf(init!);
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await untilGone(workers);
  await lab.supervisor(['--drain']).exit;
  process.kill(init!, 'SIGKILL');
  await unshare.exit;
};

/** Kills all processes of a namespace, like the end of a container, and starts a worker in another one. */
const jobDiesInside: Scene = async (lab, id) => {
  const unshare = lab.supervisor([], {}, IN_NAMESPACE);
  await untilStarted(lab, id);
  const [supervisor] = childrenOf(unshare.pid);
  process.kill(supervisor!, 'SIGKILL');
  await unshare.exit;
  await lab.supervisor(['--drain'], {}, IN_NAMESPACE).exit;
};

const SCENES = [jobSurvivesOutside, jobDiesOutside, jobSurvivesInside, jobDiesInside];

/** Kills a supervisor and its workers while the job runs. Returns the pid of the job. */
async function killWorkers(lab: Lab, id: string, supervisor: Supervisor): Promise<number> {
  await untilReady(supervisor);
  const { pid } = await untilStarted(lab, id);
  const workers = supervisor.workers();
  for (const one of [supervisor.pid, ...workers]) process.kill(one, 'SIGKILL');
  await untilGone(workers);
  return pid;
}

function queuectlChildrenOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => argumentsOf(child)[0]!.includes('queuectl'));
}

/** Runs workers of several pid namespaces on one state directory. Those in a namespace see no process outside it. */
export const namespaces: Fault = {
  id: 'F47',
  title: 'Two pid namespaces share a state directory; workers in one are killed',
  small: 4,
  full: 80,
  whySkipped: () =>
    spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0 ? null : 'no pid namespaces',
  run: (rounds, seed, program) => {
    // In even rounds the job survives the kill, so it may run only once.
    const survivingRounds = Array.from({ length: rounds }, (_, i) => i).filter((i) => i % 2 === 0);
    return roundsInLabs({
      ...{
        rounds,
        seed,
        program,
        settings: QUICK_SETTINGS,
        once: new Set(survivingRounds.map((i) => `j${i}`)),
      },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(JOB_SECONDS) }]);
        await SCENES[round % SCENES.length]!(lab, id);
        const { state } = await lab.box.json<{ state: string }>(['show', id]);
        if (state !== 'completed') throw new Error(`${id} is ${state} after a drain`);
      },
    });
  },
};
