import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsOf, processesOfJob, processesWith, sendSignal } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab, Supervisor } from './lab.ts';
import { QUICK_SETTINGS, untilReady } from './process-control.ts';
import { roundsInLabs, shuffled } from './rounds.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** The order in which a round signals the supervisor, its workers and the processes of the jobs. */
const ORDERS = ['jobs first', 'workers first', 'supervisor first', 'jobs last', 'mixed'] as const;
/** The longest pause between two groups of processes. The signals of one stop arrive close together. */
const LONGEST_GAP_MS = 60;

/** Makes every attempt but the first succeed at once. The first one goes on and sleeps until it is signalled. */
const SUCCEED_ON_RETRY = 'test -e $QUEUECTL_JOB_ID.begun && exit 0; : > $QUEUECTL_JOB_ID.begun';
/** The commands, each with the number of `sleep` processes that run before the signals are sent. */
const COMMANDS: Record<string, { command: string; sleeps: number }> = {
  plain: { command: `${SUCCEED_ON_RETRY}; sleep 60`, sleeps: 1 },
  group: { command: `${SUCCEED_ON_RETRY}; sleep 60 & sleep 60`, sleeps: 2 },
  traps: { command: `trap 'exit 1' TERM INT HUP; ${SUCCEED_ON_RETRY}; sleep 60 & wait $!`, sleeps: 1 },
  // This command leaves no process behind, because processes of a successful job are not ended.
  graceful: {
    command: `trap 'exit 0' TERM INT HUP; ${SUCCEED_ON_RETRY}; while :; do sleep 0.02; done`,
    sleeps: 0,
  },
};
const KINDS = Object.keys(COMMANDS);

/** Returns whether all processes of the job run. A shell dies of SIGINT only after its child, so both need the signal. */
function hasBegun(lab: Lab, id: string): boolean {
  const { sleeps } = COMMANDS[id.split('-')[0]!]!;
  const own = processesOfJob(lab.box, id).filter((pid) => argumentsOf(pid)[0] === 'sleep');
  return existsSync(join(lab.box.directory, `${id}.begun`)) && own.length >= sleeps;
}

/** Sends one signal to supervisor, workers, frames and jobs at almost the same time, as a service manager does. */
function signalEverything(atMostOnce: boolean): Fault['run'] {
  return async (rounds, seed, program): Promise<Figures> => {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS, once: new Set<string>() },
      open: () => async (lab, round) => {
        const kinds = KINDS.map((_, i) => KINDS[(round + i) % KINDS.length]!);
        const jobs = kinds.map((kind, i) => ({
          ...{ id: `${kind}-${round}-${i}`, command: COMMANDS[kind]!.command, max_retries: 1 },
          ...(atMostOnce ? { at_most_once: true } : {}),
        }));
        await lab.enqueue(jobs);
        const supervisor = lab.supervisor(['--count', '2', '--concurrency', '2']);
        await untilReady(supervisor, 2);
        await until(() => jobs.every(({ id }) => hasBegun(lab, id)), 'every job has begun');
        await signalAll(lab, supervisor);
        const code = await supervisor.exit;
        if (code !== 0) wrong.push({ kind: 'exit', what: `round ${round}: the stop exited with ${code}` });
        for (const { id } of jobs) wrong.push(...judge(lab, id, atMostOnce));
        if (!atMostOnce) await lab.supervisor(['--drain', '--concurrency', '4']).exit;
      },
    });
    return {
      ...figures,
      // These jobs write no witness, so the checker reports completed ones as lost.
      violations: [...figures.violations.filter(({ kind }) => kind !== 'lost'), ...wrong],
    };
  };
}

async function signalAll(lab: Lab, supervisor: Supervisor): Promise<void> {
  const signal = pick(lab.random, SIGNALS);
  const workers = supervisor.workers();
  const queuectlPids = new Set([supervisor.pid, ...workers]);
  const jobs = processesWith(`QUEUECTL_HOME=${lab.box.home}`).filter((pid) => !queuectlPids.has(pid));
  const order = pick(lab.random, ORDERS);
  const groups: Record<(typeof ORDERS)[number], number[][]> = {
    'jobs first': [jobs, [supervisor.pid], workers],
    'workers first': [workers, jobs, [supervisor.pid]],
    'supervisor first': [[supervisor.pid], jobs, workers],
    'jobs last': [[supervisor.pid], workers, jobs],
    mixed: [shuffled([...queuectlPids, ...jobs], below(lab.random, 1e9))],
  };
  for (const pids of groups[order]) {
    sendSignal(pids, signal);
    const gap = below(lab.random, 2) === 0 ? 0 : below(lab.random, LONGEST_GAP_MS);
    if (gap > 0) await new Promise((done) => setTimeout(done, gap));
  }
}

/**
 * Returns a violation unless the job is in its expected state: completed if it exits with 0 on a signal, dead if it is
 * at-most-once, and otherwise pending and uncharged.
 */
function judge(lab: Lab, id: string, atMostOnce: boolean): Figures['violations'] {
  const job = readJobs(lab.database).find((one) => one.id === id)!;
  const graceful = id.startsWith('graceful');
  const [state, attempts] = graceful
    ? ['completed', 1]
    : atMostOnce
      ? ['dead', job.attempts]
      : ['pending', 0];
  if (job.state === state && job.attempts === attempts && job.crashes === 0) return [];
  return [{ kind: 'charged', what: `${id} is ${job.state} after ${job.attempts} attempts (${job.results})` }];
}

export const stopOfEverything: Fault = {
  id: 'F49',
  title: 'A stop signals the supervisor, the workers and the jobs at the same time, in every order',
  small: 6,
  full: 200,
  run: signalEverything(false),
};

export const stopOfEverythingAtMostOnce: Fault = {
  id: 'F49b',
  title: 'The same stop, with at-most-once jobs',
  small: 3,
  full: 200,
  run: signalEverything(true),
};
