import type { Dependency, State } from './job.ts';

/** The ends of a parent job, as its dependent jobs distinguish them. */
export type ParentEnd = Extract<State, 'completed' | 'dead' | 'cancelled'> | 'deleted';

/** The conditions that each end satisfies. The end of a deleted job satisfies none. */
export const SATISFIED_BY: Record<ParentEnd, Dependency['on'][]> = {
  completed: ['ok', 'any'],
  dead: ['notok', 'any'],
  cancelled: ['notok', 'any'],
  deleted: [],
};

const ENDED: Record<ParentEnd, string> = {
  completed: 'completed',
  dead: 'is dead',
  cancelled: 'was cancelled',
  deleted: 'was deleted',
};

/** Returns the error of a job that cannot run because of how its parent ended. */
export function parentEndError(parent: string, end: ParentEnd): string {
  return `parent job '${parent}' ${ENDED[end]}`;
}

/** Finds jobs that depend on each other in a cycle. Returns their numbers, the first also at the end, or null. */
export function findCycle(parentsOf: ReadonlyMap<number, readonly number[]>): number[] | null {
  const done = new Set<number>();
  for (const start of parentsOf.keys()) {
    const path: number[] = [];
    const onPath = new Map<number, number>();
    const todo = [{ number: start, depth: 0 }];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const { number, depth } = next;
      while (path.length > depth) {
        const left = path.pop()!;
        onPath.delete(left);
        done.add(left);
      }
      const before = onPath.get(number);
      if (before !== undefined) return [...path.slice(before), number];
      if (done.has(number)) continue;
      onPath.set(number, path.length);
      path.push(number);
      for (const parent of parentsOf.get(number) ?? []) todo.push({ number: parent, depth: depth + 1 });
    }
    for (const left of path) done.add(left);
  }
  return null;
}
