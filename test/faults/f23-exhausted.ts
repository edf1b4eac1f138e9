import { spawnSync } from 'node:child_process';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import { inLab } from './lab.ts';
import { inControlGroup, whyNoProcessLimit } from './process-limit.ts';
import { witnessed } from './witness.ts';

const SLOTS = 50;
const MAX_OPEN_FILES = 64;
const MAX_PROCESSES = 45;

/** The kinds of commands. Only the last one needs a further process, so that a shortage can make it fail by itself. */
const COMMANDS: { command?: string; argv?: string[] }[] = [
  { command: 'sleep 0.1' },
  { command: 'false || sleep 0.1' },
  { command: 'cd . && exec sleep 0.1' },
  { argv: ['sleep', '0.1'] },
  { command: witnessed(0.1) },
];

/** Starts more jobs than the prefix `through` allows. A job that cannot start is requeued uncharged and runs later. */
function runBeyondLimit(through: string[]): Fault['run'] {
  return (jobs, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const kindOf = (i: number): number => i % COMMANDS.length;
        const job = (i: number) => ({ id: `j${i}-${kindOf(i)}`, max_retries: 1, ...COMMANDS[kindOf(i)]! });
        await lab.enqueue(
          Array.from({ length: jobs }, (_, i) => job(i)) as { id: string; command: string }[],
        );
        const workers = lab.supervisor(['--concurrency', String(SLOTS), '--drain'], {}, through);
        await lab.waitForJobs();
        await workers.exit;
        const isWitnessed = (id: string): boolean => id.endsWith(`-${COMMANDS.length - 1}`);
        // The checker reports the jobs without a witness as lost.
        const found = await lab.judge();
        const violations: Figures['violations'] = found.filter(({ kind }) => kind !== 'lost');
        for (const { id, state, attempts, results } of readJobs(lab.database))
          if (!isWitnessed(id) && (state !== 'completed' || attempts !== 1))
            violations.push({
              kind: 'charged',
              what: `${id} is ${state} after ${attempts} attempts (${results})`,
            });
        const postponed = workers.output().split('requeued (never-started)').length - 1;
        return { jobs, faults: postponed, violations, notes: `${postponed} starts postponed` };
      },
      program,
    );
}

export const openFilesExhausted: Fault = {
  id: 'F23',
  title: `${SLOTS} slots with a limit of ${MAX_OPEN_FILES} open files`,
  small: 150,
  full: 1000,
  whySkipped: () => (spawnSync('prlimit', ['--version']).status === 0 ? null : 'no prlimit'),
  run: runBeyondLimit(['prlimit', `--nofile=${MAX_OPEN_FILES}:${MAX_OPEN_FILES}`]),
};

export const processesExhausted: Fault = {
  id: 'F24',
  title: `${SLOTS} slots with a limit of ${MAX_PROCESSES} processes`,
  small: 150,
  full: 500,
  whySkipped: whyNoProcessLimit,
  run: (jobs, seed, program) =>
    inControlGroup(MAX_PROCESSES, (through) => runBeyondLimit(through)(jobs, seed, program)),
};
