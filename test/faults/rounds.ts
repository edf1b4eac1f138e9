import { below, randomFrom } from '../support/random.ts';
import type { History } from './checker.ts';
import type { Figures } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { roundDone, startProgress } from './progress.ts';

/** This many rounds run at a time by default, because they mostly wait. */
const LANES = 4;

/** Runs the rounds in parallel lanes. Returns the results in the order of the rounds. */
export async function inLanes<T>(rounds: number, work: (round: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < rounds; i = next++) {
      results[i] = await work(i);
      roundDone();
    }
  };
  startProgress(rounds);
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Runs one round on the queue of its lane. */
export type Round = (lab: Lab, round: number) => Promise<void>;

export interface RoundsPlan {
  rounds: number;
  seed: number;
  program?: string | undefined;
  settings?: Record<string, string>;
  /** Runs before the first round of a lane and returns the function for each round. */
  open(lab: Lab): Promise<Round> | Round;
  /** The jobs that may start at most once, by default all. */
  once?: History['once'];
  lanes?: number;
}

/** Runs the rounds in parallel lanes with a queue each, and judges each queue after its last round. */
export async function roundsInLabs(plan: RoundsPlan): Promise<Figures> {
  const lanes = Math.min(plan.lanes ?? LANES, plan.rounds);
  startProgress(plan.rounds);
  const figures = await Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      inLab(
        plan.seed + lane,
        async (lab) => {
          await lab.configure(plan.settings ?? {});
          const play = await plan.open(lab);
          for (let i = lane; i < plan.rounds; i += lanes) {
            await play(lab, i);
            roundDone();
          }
          if (lab.supervisors().length === 0) await lab.supervisor(['--drain']).exit;
          await lab.waitForJobs();
          const violations = await lab.judge(plan.once);
          return { jobs: lab.enqueued.length, violations };
        },
        plan.program,
      ),
    ),
  );
  return {
    jobs: figures.reduce((sum, one) => sum + one.jobs, 0),
    faults: plan.rounds,
    violations: figures.flatMap((one) => one.violations),
  };
}

export function shuffled<T>(all: readonly T[], seed: number): T[] {
  const random = randomFrom(seed);
  const rest = [...all];
  return all.map(() => rest.splice(below(random, rest.length), 1)[0]!);
}
