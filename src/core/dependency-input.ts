import { invalidValue } from './errors.ts';
import { checkId } from './id.ts';
import { DEPENDENCY_CONDITIONS, type Dependency, PARENT_FAILURES } from './job.ts';
import { invalid, readChoice } from './read-value.ts';
import { anyOf, input, oneOf, record, text } from './schema.ts';

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

export function readParentFailure(value: unknown, name: string): (typeof PARENT_FAILURES)[number] {
  return readChoice(PARENT_FAILURES, value, name);
}
