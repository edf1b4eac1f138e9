import { startOperation } from './acts.ts';
import { ask } from './asking.ts';
import { actCommand, command, filterFlags } from './cli.ts';
import type { Filter } from './filter.ts';
import { plural, visible } from './format.ts';
import type { ErrorGroup } from './types.ts';

const TYPED_ABOVE = 100;

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
  const filter = groupFilter(signature);
  const few = command('list', ...filterFlags(filter), '--limit', String(limit), '--quiet');
  const yes = await ask({
    title: `${action === 'retry' ? 'Retry' : 'Delete'} ${many}${pace}?`,
    detail: `${which} dead jobs of this group: ${visible(signature)}`,
    cli: limit === undefined ? actCommand(action, { filter }) : `${few} | xargs queuectl ${action}`,
    ...{ button: action === 'retry' ? 'Retry them' : 'Delete them', danger: action === 'delete' },
    word: action === 'delete' && jobs > TYPED_ABOVE ? String(jobs) : null,
  });
  if (!yes) return;
  const paced = {
    ...(limit === undefined ? {} : { limit }),
    ...(perSecond === undefined ? {} : { per_second: perSecond }),
  };
  await startOperation({ action, group: signature, ...paced });
}

/** What all errors of the group contain, so that a list finds them. */
export function groupFilter(signature: string): Filter {
  const error = signature
    .split('…')
    .map((part) => part.trim())
    .reduce((a, b) => (b.length > a.length ? b : a));
  return new URLSearchParams({ state: 'dead', error });
}
