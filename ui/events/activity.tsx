import { useRef } from 'preact/hooks';
import { command } from '../frame/cli.ts';
import { useData } from '../frame/data.ts';
import { go, place, withQuery } from '../frame/router.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Empty, Trouble } from '../parts/empty.tsx';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import type { StoreEvent } from '../types.ts';
import { ACTIVITY, EVENTS } from '../words/activity.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { SHARED } from '../words/shared.ts';
import { EventTable } from './event-table.tsx';

const LIMIT = 100;
const KINDS: Record<string, string> = {
  [ACTIVITY.everything]: '',
  [ACTIVITY.byPeople]:
    'cancelled,retried,held,released,edited,deleted,queue-paused,queue-resumed,queue-set,setting-set,setting-unset,schedule-added,schedule-edited,schedule-removed,schedule-paused,schedule-resumed,operation-begun,operation-ended',
  [ACTIVITY.failures]: 'failed,dead,requeued',
  [ACTIVITY.workers]: 'worker-ready,worker-stopped',
};

const FILTERS = [
  ['actor', EVENTS.actor, ACTIVITY.actorHint],
  ['queue', SHARED.queue, ACTIVITY.queueHint],
  ['job', SHARED.job, ACTIVITY.jobHint],
] as const;

/** Returns the same filter as a command line, which has no flag for the actor. */
function eventsCommand(query: URLSearchParams): string {
  const flags = ['kind', 'queue', 'job'].flatMap((field) => {
    const value = query.get(field);
    return value ? [`--${field}`, value] : [];
  });
  return command('events', ...flags);
}

export function ActivityPage() {
  const { query } = place.value;
  const kind = query.get('kind') ?? '';
  const asked = new URLSearchParams({ limit: String(LIMIT) });
  for (const field of ['kind', 'queue', 'job', 'actor', 'before']) {
    const value = query.get(field);
    if (value) asked.set(field, value);
  }
  const found = useData<{ events: StoreEvent[]; next_before: number | null }>(`/activity?${asked}`);
  const list = useSteady('events', found.value?.events ?? [], ({ number }) => String(number), {
    list: `${asked}`,
  });
  // The next page follows the events that are shown, not those that were read last.
  const older = useRef<number | null>(null);
  if (list.before.size === 0) older.current = found.value?.next_before ?? null;
  return (
    <section aria-label={PAGE_TITLES.activity} {...list.box}>
      <h1 class="hidden">{PAGE_TITLES.activity}</h1>
      <nav class="tabs" aria-label={ACTIVITY.kinds}>
        {Object.entries(KINDS).map(([label, kinds]) => (
          <a
            key={label}
            href={withQuery({ kind: kinds || null, before: null })}
            aria-current={kinds === kind ? 'true' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const changes = Object.fromEntries(
            FILTERS.map(([field]) => [field, String(given.get(field)).trim() || null]),
          );
          go(withQuery({ ...changes, before: null }));
        }}
      >
        {FILTERS.map(([field, label, hint]) => (
          <label key={`${field}${query.get(field)}`} class="field">
            {label}
            <input class="small" name={field} defaultValue={query.get(field) ?? ''} placeholder={hint} />
          </label>
        ))}
        <button type="submit" class="small">
          {ACTIVITY.filter}
        </button>
        <ShowNew of={list} noun="event" />
        <span class="grow" />
        <CopyButton text={eventsCommand(query)} label={SHARED.copyAsCli} word={SHARED.copyAsCli} />
      </form>
      {found.problem !== null && found.value === null ? <Trouble problem={found.problem} /> : null}
      {found.value === null ? null : found.value.events.length === 0 ? (
        <Empty text={ACTIVITY.none} cli="queuectl events -f" />
      ) : (
        <EventTable events={list.rows} />
      )}
      {older.current !== null ? (
        <nav class="pager" aria-label={ACTIVITY.pages}>
          <a class="button" href={withQuery({ before: String(older.current) })}>
            {ACTIVITY.older}
          </a>
        </nav>
      ) : null}
    </section>
  );
}
