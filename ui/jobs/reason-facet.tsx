import { useRef } from 'preact/hooks';
import { useData } from '../frame/data.ts';
import { listHref } from '../frame/router.ts';
import { number } from '../parts/format.ts';
import { isHeld } from '../parts/steady.ts';
import { REASONS, type WaitingCount } from '../types.ts';
import { JOBS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import type { Filter } from './filter.ts';

/** Shows the reasons why jobs wait with their job counts. Counts exist only by queue, so other filters hide them. */
export function ReasonFacet({ filter }: { filter: Filter }) {
  const counts = useData<WaitingCount[]>('/waiting', { gapMs: 2000 });
  const queue = filter.get('queue');
  const chosen = filter.get('waiting_for')?.split(',') ?? [];
  const mine = (counts.value ?? []).filter((one) => queue === null || one.queue === queue);
  const known = [...filter.keys()].every((field) => COUNTED.includes(field));
  const all = REASONS.map((reason) => ({
    reason,
    jobs: mine.reduce((sum, { jobs }) => sum + jobs[reason], 0),
  }));
  // While the list below is held, no reason appears or disappears, because that would move the others, or the list.
  const last = useRef<string[]>([]);
  if (!isHeld('jobs')) last.current = all.filter(({ jobs }) => jobs > 0).map(({ reason }) => reason);
  const shown = all.filter(({ reason }) => last.current.includes(reason) || chosen.includes(reason));
  if (shown.length === 0) return null;
  return (
    <nav class="line facet" aria-label={JOBS.waitingFor}>
      <span class="faint">{JOBS.waitingFor}</span>
      {shown.map(({ reason, jobs }) => (
        <a
          key={reason}
          class="tag"
          href={hrefOf(filter, chosen.includes(reason) ? null : reason)}
          aria-current={chosen.includes(reason) ? 'true' : undefined}
        >
          {SHARED.reasons[reason]}
          {known ? <span class="count">{number(jobs)}</span> : null}
        </a>
      ))}
    </nav>
  );
}

const COUNTED = ['state', 'queue', 'waiting_for'];

/** A reason takes the place of a state, because only waiting jobs have one. */
function hrefOf(filter: Filter, reason: string | null): string {
  const query = new URLSearchParams(filter);
  query.delete('state');
  if (reason === null) query.delete('waiting_for');
  else query.set('waiting_for', reason);
  return listHref(query);
}
