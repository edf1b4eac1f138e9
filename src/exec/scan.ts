import { type Found, processes, type Target } from './processes.ts';

type FindAll = (attempts: readonly Target[]) => Map<string, Found[]>;

interface Question {
  attempt: Target;
  resolve(found: Found[]): void;
  reject(error: unknown): void;
}

/** After a pass that took longer than this, the next one waits for the same time, so that other work gets its turn. */
const SHORT_PASS_MS = 10;

/** Returns a function that finds the processes of an attempt. One pass over the process table answers all pending calls. */
export function createScan(findAll: FindAll): (attempt: Target) => Promise<Found[]> {
  let questions: Question[] = [];
  let restUntil = 0;

  const pass = (): void => {
    const asked = questions;
    questions = [];
    const start = performance.now();
    try {
      const found = findAll(asked.map((one) => one.attempt));
      for (const { attempt, resolve } of asked) resolve(found.get(attempt.cookie) ?? []);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
    const end = performance.now();
    if (end - start > SHORT_PASS_MS) restUntil = end + (end - start);
  };

  return (attempt) =>
    new Promise((resolve, reject) => {
      questions.push({ attempt, resolve, reject });
      if (questions.length > 1) return;
      const rest = restUntil - performance.now();
      if (rest > 0) setTimeout(pass, rest);
      else setImmediate(pass);
    });
}

/** Finds the processes of an attempt by a scan that it shares with every other attempt that is ending. */
export const scan = createScan((attempts) => processes.findAll(attempts));
