import { invalidValue, QueueError } from '../errors.ts';
import { anyOf, input, oneOf, record, text } from '../wire/schema.ts';
import { checkId } from './id.ts';
import { DEPENDENCY_CONDITIONS, type Dependency, type State } from './job.ts';
import { invalid, readChoice } from './read-field.ts';

/** The schemas of a parent job in `depends_on`: as users give it, and as queuectl prints it. */
export const PARENT = anyOf(text, input({ id: text, on: oneOf(DEPENDENCY_CONDITIONS) }, ['id']));
export const PRINTED_PARENT = anyOf(text, record({ id: text, on: oneOf(DEPENDENCY_CONDITIONS) }));

/** The maximum number of jobs that one job can depend on. */
const MAX_PARENTS = 1000;

/** Reads an id, an object `{id, on}`, or an array of them. Returns each parent once. */
export function readDependencies(value: unknown, name: string): Dependency[] {
  const given = Array.isArray(value) ? value : [value];
  if (given.length > MAX_PARENTS)
    throw invalid(`${name} has ${given.length} entries; the limit is ${MAX_PARENTS}`);
  const byId = new Map<string, Dependency>();
  for (const one of given) {
    const parent = readDependency(one, name);
    const earlier = byId.get(parent.id);
    if (earlier !== undefined && earlier.on !== parent.on)
      throw invalid(
        `${name} lists '${parent.id}' twice, once with '${earlier.on}' and once with '${parent.on}'`,
      );
    byId.set(parent.id, parent);
  }
  return [...byId.values()];
}

function readDependency(value: unknown, name: string): Dependency {
  if (typeof value === 'string') return { id: checkId(value, `${name}: an id`), on: 'ok' };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${name} must contain job ids, or objects with id and on`);
  const { id, on = 'ok', ...rest } = value as Record<string, unknown>;
  const [unknownField] = Object.keys(rest);
  if (unknownField !== undefined)
    throw invalid(`${name}: unknown field '${unknownField}'; the known fields are id and on`);
  if (typeof id !== 'string') throw invalid(`${name}: id must be a string`);
  const condition = readChoice(DEPENDENCY_CONDITIONS, on, `${name}: on`);
  return { id: checkId(id, `${name}: an id`), on: condition };
}

/** Reads the value of --after, such as `a,any:b`. */
export function readAfterFlag(text: string): Dependency[] {
  return text.split(',').map((part) => {
    const [, on, id] = /^(?:(ok|any|notok):)?(.*)$/s.exec(part.trim())!;
    if (id === '') throw invalidValue(`--after: an id is missing in '${text}'`);
    return { id: id!, on: (on ?? 'ok') as Dependency['on'] };
  });
}

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
