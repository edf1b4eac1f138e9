import { parseDuration } from './duration.ts';
import { invalidValue } from './errors.ts';
import { STATE_ALIASES, STATES, type State } from './job.ts';
import { nearest } from './nearest.ts';
import { parseNumber } from './numbers.ts';
import { readTag } from './tag.ts';
import { WAITING_REASONS, type WaitingReason, type WaitingSelection } from './waiting-reason.ts';

/** The parts of a filter that do not depend on workers. */
interface JobCriteria {
  states?: readonly State[];
  queue?: string;
  name?: string;
  tags?: Record<string, string>;
  /** Matches jobs that were enqueued before this time. */
  createdBefore?: number;
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
}

/** A filter that a store turns into a query. It has a selection instead of reasons, because reasons depend on workers. */
export interface StoreFilter extends JobCriteria {
  waiting?: WaitingSelection;
  waitingFor?: never;
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

/** The source of a filter: flags of the command line, the query of a URL or a JSON body. */
export interface FilterSource {
  /** Returns the value of a field that may be given once. */
  one(field: string): string | undefined;
  /** Returns the values of a field that may be repeated. */
  all(field: string): string[];
  /** Returns the name of a field as errors show it. */
  nameOf(field: string): string;
}

export function readJobFilter({ one, all, nameOf }: FilterSource, now: number): JobFilter {
  const filter: JobFilter = {};
  const states = all('state').flatMap((text) => text.split(','));
  if (states.length > 0) filter.states = states.flatMap((text) => readState(text, nameOf('waiting-for')));
  const reasons = all('waiting-for').flatMap((text) => text.split(','));
  if (reasons.length > 0) filter.waitingFor = reasons.map((text) => readReason(text, nameOf('waiting-for')));
  for (const field of TEXT_FIELDS)
    if (one(field)?.trim() === '') throw invalidValue(`${nameOf(field)} must not be empty`);
  const [queue, name, olderThan, error, code, where, search] = TEXT_FIELDS.map(one);
  if (queue !== undefined) filter.queue = queue;
  if (name !== undefined) filter.name = name;
  const tags = all('tag');
  if (tags.length > 0) filter.tags = Object.fromEntries(tags.map((tag) => readTag(tag, nameOf('tag'))));
  if (olderThan !== undefined) filter.createdBefore = now - parseDuration(olderThan, nameOf('older-than'));
  if (error !== undefined) filter.error = error;
  if (code !== undefined)
    filter.exitCode = parseNumber(code, nameOf('exit-code'), { min: 0, max: 255, integer: true });
  if (search?.trim()) filter.text = checkLength(search.trim(), nameOf('search'), MAX_SEARCH_CHARS);
  if (where !== undefined) filter.conditions = readConditions(where, nameOf('where'));
  return filter;
}

const TEXT_FIELDS = ['queue', 'name', 'older-than', 'error', 'exit-code', 'where', 'search'];

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
