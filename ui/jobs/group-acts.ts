import { postCommand } from '../frame/cli.ts';
import { ask } from '../frame/question.ts';
import { plural, visible } from '../parts/format.ts';
import type { ErrorGroup } from '../types.ts';
import { DLQ } from '../words/dlq.ts';
import { ACTIONS } from '../words/jobs.ts';
import { startOperation, TYPED_ABOVE } from './acts.ts';

/** An action on a group of dead jobs. It can be limited to some of them, or to a rate. */
export interface GroupAct {
  action: 'retry' | 'delete';
  limit?: number;
  perSecond?: number;
}

export async function actOnGroup({ action, limit, perSecond }: GroupAct, group: ErrorGroup): Promise<void> {
  const { signature, jobs } = group;
  const many = plural(Math.min(jobs, limit ?? jobs), 'job');
  const { label } = ACTIONS[action];
  const pace = perSecond === undefined ? '' : DLQ.pace(perSecond);
  const error = visible(signature);
  const operation = {
    action,
    group: signature,
    ...(limit === undefined ? {} : { limit }),
    ...(perSecond === undefined ? {} : { per_second: perSecond }),
  };
  const yes = await ask({
    title: DLQ.question(label, many, pace),
    detail:
      limit === undefined || limit >= jobs
        ? DLQ.ofAll(error)
        : DLQ.ofSome(limit, plural(jobs, DLQ.deadJob), error),
    // No filter of the command line selects exactly this group.
    cli: postCommand('/operations', operation),
    button: DLQ.button(label, many),
    danger: action === 'delete',
    word: action === 'delete' && jobs > TYPED_ABOVE ? String(jobs) : null,
  });
  if (yes) await startOperation(operation);
}

/** Returns a text that all errors of the group contain, and others may contain too. Null if there is none. */
export function commonText({ signature, sample_error }: ErrorGroup): string | null {
  const longest = signature
    .split('…')
    .map((part) => part.trim())
    .reduce((a, b) => (b.length > a.length ? b : a));
  return longest !== '' && sample_error.includes(longest) ? longest : null;
}
