import { type FoundProcess, processes, type Target } from './processes.ts';

type FindAll = (attempts: readonly Target[]) => Map<string, FoundProcess[]>;

interface ScanRequest {
  attempt: Target;
  resolve(found: FoundProcess[]): void;
  reject(error: unknown): void;
}

/** After a pass that took longer than this, the next one waits as long as that pass took, so that other work gets its turn. */
const SHORT_PASS_MS = 10;

/** Returns a function that finds the processes of an attempt. One pass over the process table answers all pending calls. */
export function createScan(findAll: FindAll): (attempt: Target) => Promise<FoundProcess[]> {
  let pending: ScanRequest[] = [];
  let restUntil = 0;

  const runPass = (): void => {
    const requests = pending;
    pending = [];
    const start = performance.now();
    try {
      const found = findAll(requests.map((one) => one.attempt));
      for (const { attempt, resolve } of requests) resolve(found.get(attempt.cookie) ?? []);
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
    const end = performance.now();
    if (end - start > SHORT_PASS_MS) restUntil = end + (end - start);
  };

  return (attempt) =>
    new Promise((resolve, reject) => {
      pending.push({ attempt, resolve, reject });
      if (pending.length > 1) return;
      const restMs = restUntil - performance.now();
      if (restMs > 0) setTimeout(runPass, restMs);
      else setImmediate(runPass);
    });
}

/** Finds the processes of an attempt. Calls that are made at the same time share one pass over the process table. */
export const scan = createScan((attempts) => processes.findAll(attempts));
