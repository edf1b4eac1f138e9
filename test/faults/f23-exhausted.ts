import { spawnSync } from 'node:child_process';
import type { Fault } from './fault.ts';
import { inLab } from './lab.ts';
import { inControlGroup, whyNoProcessLimit } from './process-limit.ts';
import { witnessed } from './witness.ts';

const SLOTS = 50;
const MAX_OPEN_FILES = 64;
const MAX_PROCESSES = 60;

/** Starts more jobs than the prefix `through` allows. A job that cannot start is requeued uncharged and runs later. */
function runBeyondLimit(through: string[]): Fault['run'] {
  return (jobs, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const job = (i: number) => ({ id: `j${i}`, command: witnessed(0.1), max_retries: 1 });
        await lab.enqueue(Array.from({ length: jobs }, (_, i) => job(i)));
        const workers = lab.supervisor(['--concurrency', String(SLOTS), '--drain'], {}, through);
        await lab.waitForJobs();
        await workers.exit;
        const violations = await lab.judge();
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
