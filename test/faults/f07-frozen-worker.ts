import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { countUnfinished } from './audit.ts';
import { buildClock, clockSteps, withClockOffset } from './f09-clock.ts';
import type { Fault } from './fault.ts';
import type { Lab } from './lab.ts';
import {
  ADOPT_ONLY,
  freeze,
  isStopped,
  QUICK_SETTINGS,
  untilGone,
  untilReady,
  untilStarted,
} from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { unsupervisedWorker } from './unsupervised-worker.ts';
import { witnessed } from './witness.ts';

/** Crash points between the claim and the start. A worker that continues too late must find the gate taken. */
const BEFORE_START = ['after-claim:1', 'before-place:1', 'after-place:1', 'before-spawn:1'];
/** A worker settles a job together with its next claim, so at this crash point the job has ended and is not settled. */
const BEFORE_SETTLEMENT = ['before-claim:2'];

/** A round of F7 is tried up to this many times, until another worker adopts the job. */
const MAX_TRIES = 20;

/** Freezes a worker at one of the crash points. Continues it when another worker has adopted or ended its job. */
function frozenAt(points: string[]): Fault['run'] {
  return (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(below(lab.random, 300) / 1000) }]);
        const frozen = unsupervisedWorker(lab, `${pick(lab.random, points)}:stop`);
        await until(() => isStopped(frozen.pid), 'the worker is suspended');
        const other = lab.supervisor();
        if (below(lab.random, 2) === 0) await lab.waitForJobs();
        else
          await until(() => other.output().includes(`job=${id} attempt=1 queue=default adopted`), 'adopted');
        process.kill(frozen.pid, 'SIGCONT');
        await untilGone([frozen.pid]);
        await lab.waitForJobs();
        await lab.box.json(['worker', 'stop']);
      },
    });
}

export const frozenBeforeStart: Fault = {
  id: 'F7b',
  title: 'A worker is frozen between claiming and starting a job, for longer than its lease',
  small: 6,
  full: 150,
  run: frozenAt(BEFORE_START),
};

const DAY_MS = 86_400_000;

const filesOfAttempts = (lab: Lab, pattern: RegExp): string[] => {
  const directory = join(lab.box.home, 'queue.db.d', 'attempts');
  return readdirSync(directory)
    .filter((name) => pattern.test(name))
    .map((name) => join(directory, name));
};
const OF_ATTEMPT = /-[1-9]/;

/** Runs the sweep of `worker start` with a clock that is two days ahead. The old file shows when the sweep has ended. */
async function sweepInTwoDays(lab: Lab): Promise<void> {
  const old = filesOfAttempts(lab, OF_ATTEMPT)[0]!.replace(/-\d+\.\w+$/, '-999999.out');
  writeFileSync(old, '');
  utimesSync(old, 0, 0);
  const offset = join(lab.box.directory, 'offset');
  const env = withClockOffset(buildClock(lab.box.directory)!, offset, 2 * DAY_MS);
  const sweeper = lab.supervisor(ADOPT_ONLY, env);
  await until(() => / removed \d+ old attempt/.test(sweeper.output()), 'the sweep has ended');
}

/** Freezes a worker before a start, and continues it when its job has run elsewhere and its gate may be gone. */
export const frozenForTooLong: Fault = {
  id: 'F7d',
  title: 'A worker is frozen before a start, and its gate is removed or the clock is set forward by two days',
  small: 2,
  full: 150,
  whySkipped: clockSteps.whySkipped!,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        await lab.enqueue([{ id: `j${round}`, command: witnessed(0) }]);
        const frozen = unsupervisedWorker(lab, `${pick(lab.random, BEFORE_START)}:stop`);
        await until(() => isStopped(frozen.pid), 'the worker is suspended');
        const loss = (['clock', 'gate'] as const)[round % 2];
        lab.supervisor();
        await lab.waitForJobs();
        if (loss === 'clock') await sweepInTwoDays(lab);
        if (loss === 'gate') for (const file of filesOfAttempts(lab, OF_ATTEMPT)) rmSync(file);
        process.kill(frozen.pid, 'SIGCONT');
        await untilGone([frozen.pid]);
        await lab.waitForJobs();
        await lab.box.json(['worker', 'stop']);
      },
    }),
};

export const frozenBeforeSettlement: Fault = {
  id: 'F7c',
  title: 'A worker is frozen just before it records a result, for longer than its lease',
  small: 4,
  full: 150,
  run: frozenAt(BEFORE_SETTLEMENT),
};

/** Freezes a worker for longer than its lease. When it continues, another worker has adopted its job. */
export const frozenWorker: Fault = {
  id: 'F7',
  title: 'A worker is suspended with SIGSTOP for longer than its lease, then continued',
  small: 8,
  full: 300,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      async open(lab) {
        const adopter = lab.supervisor(ADOPT_ONLY);
        const frozen = lab.supervisor();
        await untilReady(adopter);
        /** Returns false if the job was over before the worker was frozen, as happens on a busy machine. */
        const freezeDuringJob = async (id: string): Promise<boolean> => {
          await lab.enqueue([{ id, command: witnessed(0.4 + below(lab.random, 2500) / 1000) }]);
          await untilStarted(lab, id);
          const pid = await until(() => frozen.workers()[0], 'a worker');
          const nextReadyCount = frozen.output().split(' ready ').length;
          freeze(lab, pid);
          const adopted = (): boolean =>
            adopter.output().includes(`job=${id} attempt=1 queue=default adopted`);
          await until(() => adopted() || countUnfinished(lab.database) === 0, 'adopted');
          // The worker continues before or after the adopter has settled the job.
          if (below(lab.random, 2) === 0) await lab.waitForJobs();
          process.kill(pid, 'SIGCONT');
          if (!adopted()) return false;
          await untilGone([pid]);
          await lab.waitForJobs();
          await untilReady(frozen, nextReadyCount);
          return true;
        };
        return async (_, round) => {
          for (let i = 0; i < MAX_TRIES; i++) if (await freezeDuringJob(`j${round}-${i}`)) return;
          throw new Error(`no worker could be frozen in time, ${MAX_TRIES} times in a row`);
        };
      },
    }),
};
