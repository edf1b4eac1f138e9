import { parseDuration } from './duration.ts';
import { QueueError } from './errors.ts';
import { STATE_ALIASES, STATES, type State } from './job.ts';
import { nearest } from './nearest.ts';
import { parseNumber } from './numbers.ts';

/** Which jobs are meant. One parser serves lists, actions and the library; a store turns it into a query. */
export interface JobFilter {
  states?: readonly State[];
  queue?: string;
  name?: string;
  tags?: Record<string, string>;
  /** Enqueued before this time. */
  createdBefore?: number;
  /** Part of the last error, whatever its case. */
  error?: string;
  exitCode?: number;
  conditions?: Condition[];
}

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

const ANY_NUMBER = { min: -1e15, max: 1e15, integer: true };
const LONGEST = 256;

export function readState(text: string): State {
  const word = text.trim().toLowerCase();
  const state = STATES.find((name) => name === word) ?? STATE_ALIASES.get(word);
  if (state !== undefined) return state;
  const guess = nearest(word, [...STATES, ...STATE_ALIASES.keys()]);
  const meant = guess === null ? '' : `; did you mean ${guess}?`;
  throw new QueueError('invalid-value', `there is no state '${text}'${meant}`, `one of ${STATES.join(', ')}`);
}

/** `k=v`. */
export function readTag(text: string, what: string): [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw new QueueError('invalid-value', `${what} must be KEY=VALUE, not '${text}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `attempts>3`, `duration>=5m`, `exit_code!=0`; several stand apart by commas. */
export function readConditions(text: string): Condition[] {
  if (text.length > LONGEST)
    throw new QueueError('invalid-value', `--where is longer than ${LONGEST} characters`);
  return text.split(',').map(readCondition);
}

function readCondition(text: string): Condition {
  const match = /^\s*([a-z_-]+)\s*(<=|>=|!=|=|<|>)\s*(\S+)\s*$/i.exec(text);
  if (match === null) {
    throw new QueueError(
      'invalid-value',
      `--where: '${text}' is no condition`,
      "write one such as --where 'attempts>3'",
    );
  }
  const name = match[1]!.toLowerCase().replaceAll('-', '_');
  const field = CONDITION_FIELDS.find((known) => known === name);
  if (field === undefined) {
    throw new QueueError(
      'invalid-value',
      `--where: there is no field '${match[1]}'`,
      `one of ${CONDITION_FIELDS.join(', ')}`,
    );
  }
  const operator = match[2] as Operator;
  const value =
    field === 'duration'
      ? parseDuration(match[3]!, '--where')
      : parseNumber(match[3]!, '--where', ANY_NUMBER);
  return { field, operator, value };
}
