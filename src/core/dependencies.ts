import type { Dependency, State } from './job.ts';

/** How a job that others wait for can end for them. */
export type ParentEnd = Extract<State, 'completed' | 'dead' | 'cancelled'> | 'deleted';

/** The wishes that such an end fulfils. A job that was deleted has not ended in any way that somebody waited for. */
export function suitedBy(end: ParentEnd): Dependency['on'][] {
  switch (end) {
    case 'completed':
      return ['ok', 'any'];
    case 'dead':
    case 'cancelled':
      return ['notok', 'any'];
    case 'deleted':
      return [];
  }
}

const ENDED: Record<ParentEnd, string> = {
  completed: 'completed',
  dead: 'is dead',
  cancelled: 'was cancelled',
  deleted: 'was deleted',
};

/** Why a job that waited for this one no longer does. */
export function whyNot(parent: string, end: ParentEnd): string {
  return `parent job '${parent}' ${ENDED[end]}`;
}

/** Some that wait for each other in a circle, the first also at the end; null: nobody does. */
export function circleAmong(parentsOf: ReadonlyMap<number, readonly number[]>): number[] | null {
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
