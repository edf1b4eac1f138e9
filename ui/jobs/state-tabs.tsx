import { listHref } from '../frame/router.ts';
import { queues, sumOf } from '../frame/store.ts';
import { number } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { STATES } from '../types.ts';
import { JOBS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import type { Filter } from './filter.ts';

/** Shows the states with their job counts. Counts exist only by state and queue, so other filters hide them. */
export function StateTabs({ filter }: { filter: Filter }) {
  const current = filter.get('state');
  const queue = filter.get('queue');
  // A tab leaves the reason, so its count holds with one, too.
  const known = [...filter.keys()].every((field) => ['state', 'queue', 'waiting_for'].includes(field));
  const sum =
    known && queues.value !== null
      ? sumOf(queues.value.filter(({ name }) => queue === null || name === queue))
      : null;
  const tabs = [null, ...STATES];
  return (
    <nav class="tabs" aria-label={JOBS.states}>
      {tabs.map((state) => {
        const count = sum && (state === null ? STATES.reduce((all, one) => all + sum[one], 0) : sum[state]);
        return (
          <a
            key={state}
            href={hrefOf(filter, state)}
            aria-current={state === current && !filter.has('waiting_for') ? 'true' : undefined}
          >
            {state === null ? null : (
              <span class={`state-${state}`}>
                <Icon name={state} />
              </span>
            )}
            {state === null ? SHARED.all : SHARED.states[state]}
            {count === null ? null : <span class="count">{number(count)}</span>}
          </a>
        );
      })}
    </nav>
  );
}

function hrefOf(filter: Filter, state: string | null): string {
  const query = new URLSearchParams(filter);
  query.delete('waiting_for');
  if (state === null) query.delete('state');
  else query.set('state', state);
  return listHref(query);
}
