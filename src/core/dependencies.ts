import { QueueError } from './errors.ts';
import type { Dependency, State } from './job.ts';

/** How a parent job can end, as far as its dependent jobs are concerned. */
export type ParentEnd = Extract<State, 'completed' | 'dead' | 'cancelled'> | 'deleted';

/** The conditions of dependencies that each end satisfies. A parent that was deleted before it ended satisfies none. */
export const SATISFIED_CONDITIONS: Record<ParentEnd, Dependency['on'][]> = {
  completed: ['ok', 'any'],
  dead: ['notok', 'any'],
  cancelled: ['notok', 'any'],
  deleted: [],
};

const END_TEXTS: Record<ParentEnd, string> = {
  completed: 'completed',
  dead: 'is dead',
  cancelled: 'was cancelled',
  deleted: 'was deleted',
};

/** Returns the error of a job that cannot run because of how its parent ended. */
export function parentEndError(parent: string, end: ParentEnd): string {
  return `parent job '${parent}' ${END_TEXTS[end]}`;
}

/** Returns the numbers of the jobs in one dependency cycle, with the first repeated at the end. Returns null if there is no cycle. */
export function findCycle(parentsOf: ReadonlyMap<number, readonly number[]>): number[] | null {
  const done = new Set<number>();
  for (const start of parentsOf.keys()) {
    const path: number[] = [];
    const indexOnPath = new Map<number, number>();
    const todo = [{ number: start, depth: 0 }];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const { number, depth } = next;
      while (path.length > depth) {
        const visited = path.pop()!;
        indexOnPath.delete(visited);
        done.add(visited);
      }
      const cycleStart = indexOnPath.get(number);
      if (cycleStart !== undefined) return [...path.slice(cycleStart), number];
      if (done.has(number)) continue;
      indexOnPath.set(number, path.length);
      path.push(number);
      for (const parent of parentsOf.get(number) ?? []) todo.push({ number: parent, depth: depth + 1 });
    }
    for (const visited of path) done.add(visited);
  }
  return null;
}

/** The error lists this many jobs from the start and as many from the end of a long cycle. */
const JOBS_PER_END = 3;

/** Throws if the dependencies of these jobs contain a cycle. `idOf` is called only for the jobs that the error names. */
export function refuseCycle(
  parentsOf: ReadonlyMap<number, readonly number[]>,
  idOf: (number: number) => string,
): void {
  const cycle = findCycle(parentsOf);
  if (cycle === null) return;
  const quotedIds = (numbers: number[]): string => numbers.map((number) => `'${idOf(number)}'`).join(' -> ');
  if (cycle.length === 2)
    throw new QueueError('invalid-job', `job ${quotedIds(cycle.slice(1))} cannot depend on itself`);
  const path =
    cycle.length <= 2 * JOBS_PER_END
      ? quotedIds(cycle)
      : `${quotedIds(cycle.slice(0, JOBS_PER_END))} -> … -> ${quotedIds(cycle.slice(-JOBS_PER_END))}, ${cycle.length - 1} jobs in total`;
  throw new QueueError('invalid-job', `circular dependency: ${path}`);
}
