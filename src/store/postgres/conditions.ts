import type { StoreFilter } from '../../core/jobs/filter.ts';
import type { WaitingSelection } from '../../core/jobs/waiting-reason.ts';
import { CONDITION_COLUMNS } from '../condition-columns.ts';
import type { Bind } from './binder.ts';

/** Joins the searched columns, so that a search costs one comparison for each job. No id or name contains the separator. */
const SEARCHED_TEXT = "concat_ws(E'\\x1f', id, command, name, tags, last_error)";

/** Returns a condition that ignores the case of ASCII letters only, as the other store does. */
const contains = (text: string, part: string): string =>
  `strpos(lower((${text}) COLLATE "C"), lower(${part} COLLATE "C")) > 0`;

/** Returns the conditions of a filter that no index covers. User text is always a bound value. */
export function conditionsOf(filter: StoreFilter, dueQueues: readonly number[], bind: Bind): string[] {
  const { tags, createdBefore, error, exitCode, conditions = [], waiting, text } = filter;
  const parts: string[] = [];
  for (const [key, value] of Object.entries(tags ?? {})) {
    // The cheap text comparison comes first, so that few rows are parsed as JSON.
    parts.push(`strpos(tags, ${bind(JSON.stringify(value), 'text')}) > 0`);
    parts.push(`tags::json ->> ${bind(key, 'text')} = ${bind(value, 'text')}`);
  }
  // Numbers of filters may have decimals.
  if (createdBefore !== undefined) parts.push(`created_at < ${bind(createdBefore, 'float8')}`);
  if (error !== undefined) parts.push(contains('last_error', bind(error, 'text')));
  if (exitCode !== undefined) parts.push(`exit_code = ${bind(exitCode, 'float8')}`);
  for (const { field, operator, value } of conditions)
    parts.push(`${CONDITION_COLUMNS[field]} ${operator} ${bind(value, 'float8')}`);
  if (waiting !== undefined) parts.push(isSelected(waiting, dueQueues, bind));
  if (text !== undefined) parts.push(contains(SEARCHED_TEXT, bind(text, 'text')));
  return parts;
}

/** Matches the selected waiting jobs. A job that is due counts as ready, even if no claim has promoted it yet. */
function isSelected(
  { held, blocked, scheduled, retrying, now }: WaitingSelection,
  dueQueues: readonly number[],
  bind: Bind,
): string {
  const inDueQueue = `queue = ANY(${bind(dueQueues, 'bigint[]')})`;
  return `CASE phase WHEN 'held' THEN ${held} WHEN 'blocked' THEN ${blocked} WHEN 'ready' THEN ${inDueQueue}
    WHEN 'waiting' THEN CASE WHEN due_at <= ${bind(now, 'float8')} THEN ${inDueQueue}
      WHEN state = 'failed' THEN ${retrying} ELSE ${scheduled} END ELSE false END`;
}
