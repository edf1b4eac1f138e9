import { startOperation, TYPED_ABOVE } from './acts.ts';
import { ask } from './asking.ts';
import { postCommand } from './cli.ts';
import { plural, visible } from './format.ts';
import type { ErrorGroup } from './types.ts';

/** What is done with a group of dead jobs: with some of them only, or no faster than so. */
export interface GroupAct {
  action: 'retry' | 'delete';
  limit?: number;
  perSecond?: number;
}

export async function actOnGroup({ action, limit, perSecond }: GroupAct, group: ErrorGroup): Promise<void> {
  const { signature, jobs } = group;
  const many = plural(Math.min(jobs, limit ?? jobs), 'job');
  const which = limit === undefined || limit >= jobs ? 'All' : 'So many of the';
  const pace = perSecond === undefined ? '' : `, ${perSecond} a second`;
  const operation = {
    ...{ action, group: signature },
    ...(limit === undefined ? {} : { limit }),
    ...(perSecond === undefined ? {} : { per_second: perSecond }),
  };
  const yes = await ask({
    title: `${action === 'retry' ? 'Retry' : 'Delete'} ${many}${pace}?`,
    detail: `${which} dead jobs of this group: ${visible(signature)}`,
    // No filter of the command line means exactly this group.
    cli: postCommand('/operations', operation),
    ...{ button: action === 'retry' ? 'Retry them' : 'Delete them', danger: action === 'delete' },
    word: action === 'delete' && jobs > TYPED_ABOVE ? String(jobs) : null,
  });
  if (yes) await startOperation(operation);
}

/** What all errors of the group contain, and maybe others, too; null: nothing that could be searched for. */
export function commonText({ signature, sample_error }: ErrorGroup): string | null {
  const longest = signature
    .split('…')
    .map((part) => part.trim())
    .reduce((a, b) => (b.length > a.length ? b : a));
  return longest !== '' && sample_error.includes(longest) ? longest : null;
}
