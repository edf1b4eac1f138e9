import { invalidValue } from '../errors.ts';
import { nearest } from '../text/nearest.ts';
import { parseNumber } from '../text/numbers.ts';
import { parseDuration } from '../time/duration.ts';
import { STATE_ALIASES, STATES, type State } from './job.ts';
import { WAITING_REASONS, type WaitingReason, type WaitingSelection } from './waiting-reason.ts';

/** The parts of a filter that do not depend on workers. */
interface JobCriteria {
  states?: readonly State[];
  queue?: string;
  name?: string;
  tags?: Record<string, string>;
  /** Matches a part of the last error. Case is ignored. */
  error?: string;
  exitCode?: number;
  /** The conditions of `--where`. All of them must hold. */
  conditions?: Condition[];
  /** Matches a part of the id, name, command, tags or last error. Case is ignored. Only the newest jobs are searched. */
  text?: string;
}

/** A filter for jobs. Lists, actions and the library share it. */
export interface JobFilter extends JobCriteria {
  /** Matches jobs that wait for one of these reasons. */
  waitingFor?: readonly WaitingReason[];
  /** Matches jobs that were enqueued at least this long ago, by the clock of the store. */
  olderThanMs?: number;
}

/** A filter that a store turns into a query. It has a selection instead of reasons, because reasons depend on workers. */
export interface StoreFilter extends JobCriteria {
  waiting?: WaitingSelection;
  waitingFor?: never;
  /** Matches jobs that were enqueued before this time. */
  createdBefore?: number;
  olderThanMs?: never;
}

/** Text search looks at this many of the newest jobs. */
export const SEARCHED_JOBS = 100_000;

export const CONDITION_FIELDS = [
  'attempts',
  'crashes',
  'priority',
  'max_retries',
  'exit_code',
  'duration',
] as const;
export type ConditionField = (typeof CONDITION_FIELDS)[number];
export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';

export interface Condition {
  field: ConditionField;
  operator: Operator;
  value: number;
}

type NameOf = (field: string) => string;

/** A field of a filter. It is a flag of the command line, a query parameter, a field of a JSON body and an option of the library. */
interface FilterField {
  /** The placeholder of the value in the help. */
  value: string;
  short?: string;
  values?: readonly string[];
  /** Which jobs match. */
  help: string;
  /** True if programs may give a number instead of a text. */
  isNumber?: true;
  /** Reads a field that may be given once. `name` is its name as errors show it. */
  one?(text: string, name: string): JobFilter;
  /** Reads a field that may be repeated. */
  all?(texts: string[], name: string, nameOf: NameOf): JobFilter;
}

export const FILTER_FIELDS: Record<string, FilterField> = {
  state: {
    value: 'S,…',
    short: 's',
    values: STATES,
    help: `jobs in these states: ${STATES.join(', ')}`,
    all: (texts, _, nameOf) => ({
      states: splitLists(texts).flatMap((text) => readState(text, nameOf('waiting-for'))),
    }),
  },
  'waiting-for': {
    value: 'R,…',
    values: WAITING_REASONS,
    help: `jobs that wait for one of these reasons: ${WAITING_REASONS.join(', ')}`,
    all: (texts, name) => ({ waitingFor: splitLists(texts).map((text) => readReason(text, name)) }),
  },
  queue: { value: 'NAME', help: 'jobs in this queue', one: (queue) => ({ queue }) },
  name: { value: 'NAME', help: 'jobs with this name', one: (name) => ({ name }) },
  tag: {
    value: 'K=V',
    help: 'jobs with this tag, such as team=web; can be repeated',
    all: (texts, name) => ({ tags: Object.fromEntries(texts.map((tag) => readTag(tag, name))) }),
  },
  'older-than': {
    value: 'TIME',
    help: 'jobs enqueued at least this long ago, such as 2h or 7d',
    isNumber: true,
    one: (text, name) => ({ olderThanMs: parseDuration(text, name) }),
  },
  error: { value: 'TEXT', help: 'jobs whose last error contains this text', one: (error) => ({ error }) },
  'exit-code': {
    value: 'N',
    help: 'jobs whose last exit code is N',
    isNumber: true,
    one: (text, name) => ({ exitCode: parseNumber(text, name, { min: 0, max: 255, integer: true }) }),
  },
  search: {
    value: 'TEXT',
    help: 'jobs with this text in the id, name, command, tags or last error (only among the newest 100,000 jobs)',
    one: (text, name) => ({ text: checkLength(text.trim(), name, MAX_SEARCH_CHARS) }),
  },
  where: {
    value: 'COND,…',
    help: "jobs that match conditions such as 'attempts>3' or 'duration>=5m'",
    one: (text, name) => ({ conditions: readConditions(text, name) }),
  },
};

/** Reads a tag of the form `key=value`. */
export function readTag(text: string, what: string): [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw invalidValue(`${what} must be KEY=VALUE, not '${text}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Reads a filter. `all` returns the given values of a field, and `nameOf` the name of the field as errors show it. */
export function readJobFilter(all: (field: string) => string[], nameOf: NameOf): JobFilter {
  const filter: JobFilter = {};
  for (const [field, read] of Object.entries(FILTER_FIELDS)) {
    const texts = all(field);
    const last = texts.at(-1);
    if (last === undefined) continue;
    const name = nameOf(field);
    if (read.one !== undefined && last.trim() === '') throw invalidValue(`${name} must not be empty`);
    Object.assign(filter, read.one?.(last, name) ?? read.all!(texts, name, nameOf));
  }
  return filter;
}

const splitLists = (texts: string[]): string[] => texts.flatMap((text) => text.split(','));

const ANY_NUMBER = { min: -1e15, max: 1e15, integer: true };
const MAX_WHERE_CHARS = 256;
const MAX_SEARCH_CHARS = 1000;

/** Reads a state, or `all`. `reasonFilter` is the name of the filter to suggest to people who give a reason instead. */
function readState(text: string, reasonFilter: string): readonly State[] {
  const word = text.trim().toLowerCase();
  if (word === 'all') return STATES;
  const state = STATES.find((name) => name === word) ?? STATE_ALIASES.get(word);
  if (state !== undefined) return [state];
  const reason = reasonWith(word);
  if (reason !== undefined)
    throw invalidValue(
      `'${text}' is not a state but a reason why jobs wait`,
      `use ${reasonFilter} ${reason}`,
    );
  const guess = nearest(word, [...STATES, ...STATE_ALIASES.keys()]);
  const suggestion = guess === null ? '' : `; did you mean ${guess}?`;
  throw invalidValue(`unknown state '${text}'${suggestion}`, `use one of ${STATES.join(', ')}`);
}

/** Finds a reason by its name. Spaces and hyphens count as underscores. */
function reasonOf(text: string): WaitingReason | undefined {
  const word = text.trim().toLowerCase().replaceAll(/[ -]+/g, '_');
  return WAITING_REASONS.find((name) => name === word);
}

/** Finds a reason by its name or by one word of it, such as `paused`. */
const reasonWith = (word: string): WaitingReason | undefined =>
  reasonOf(word) ?? WAITING_REASONS.find((name) => name.split('_').includes(word));

function readReason(text: string, what: string): WaitingReason {
  const reason = reasonOf(text);
  if (reason !== undefined) return reason;
  const guess = nearest(text.trim(), WAITING_REASONS);
  const suggestion = guess === null ? '' : `; did you mean ${guess}?`;
  throw invalidValue(
    `${what}: unknown reason '${text}'${suggestion}`,
    `use one of ${WAITING_REASONS.join(', ')}`,
  );
}

function checkLength(text: string, what: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  throw invalidValue(`${what} is longer than ${maxChars} characters`);
}

/** Reads conditions such as `attempts>3,duration>=5m,exit_code!=0`. */
function readConditions(text: string, what: string): Condition[] {
  return checkLength(text, what, MAX_WHERE_CHARS)
    .split(',')
    .map((one) => readCondition(one, what));
}

function readCondition(text: string, what: string): Condition {
  const match = /^\s*([a-z_-]+)\s*(<=|>=|!=|=|<|>)\s*(\S+)\s*$/i.exec(text);
  if (match === null) {
    throw invalidValue(`${what}: invalid condition '${text}'`, 'use a condition such as attempts>3');
  }
  const name = match[1]!.toLowerCase().replaceAll('-', '_');
  const field = CONDITION_FIELDS.find((known) => known === name);
  if (field === undefined) {
    throw invalidValue(`${what}: unknown field '${match[1]}'`, `use one of ${CONDITION_FIELDS.join(', ')}`);
  }
  const operator = match[2] as Operator;
  const value =
    field === 'duration'
      ? parseDuration(match[3]!, `${what}: duration`)
      : parseNumber(match[3]!, `${what}: ${field}`, ANY_NUMBER);
  return { field, operator, value };
}
