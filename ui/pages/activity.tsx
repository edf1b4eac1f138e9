import { command } from '../cli.ts';
import { CopyButton } from '../components/copy.tsx';
import { Empty, Trouble } from '../components/empty.tsx';
import { EventTable } from '../components/event-table.tsx';
import { useData } from '../data.ts';
import { go, place, withQuery } from '../router.ts';
import type { StoreEvent } from '../types.ts';

const LIMIT = 100;
const KINDS: Record<string, string> = {
  everything: '',
  'by people':
    'cancelled,retried,held,released,edited,deleted,queue-paused,queue-resumed,queue-set,setting-set,setting-unset,schedule-added,schedule-edited,schedule-removed,schedule-paused,schedule-resumed,operation-begun,operation-ended',
  failures: 'failed,dead,requeued',
  workers: 'worker-ready,worker-stopped',
};

const WHO = [
  ['actor', 'Who', 'http:, uid 1000'],
  ['queue', 'Queue', 'mail'],
  ['job', 'Job', 'its id'],
] as const;

/** The command line knows no actors. */
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
  return (
    <section aria-label="Activity">
      <h1 class="hidden">Activity</h1>
      <nav class="tabs" aria-label="Kinds">
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
            WHO.map(([field]) => [field, String(given.get(field)).trim() || null]),
          );
          go(withQuery({ ...changes, before: null }));
        }}
      >
        {WHO.map(([field, label, hint]) => (
          <label key={`${field}${query.get(field)}`} class="field">
            {label}
            <input class="small" name={field} defaultValue={query.get(field) ?? ''} placeholder={hint} />
          </label>
        ))}
        <button type="submit" class="small">
          Show
        </button>
        <span class="grow" />
        <CopyButton text={eventsCommand(query)} label="Copy as CLI" word="Copy as CLI" />
      </form>
      {found.problem !== null && found.value === null ? <Trouble problem={found.problem} /> : null}
      {found.value === null ? null : found.value.events.length === 0 ? (
        <Empty text="Nothing of this kind has happened." cli="queuectl events -f" />
      ) : (
        <EventTable events={found.value.events} />
      )}
      {found.value?.next_before ? (
        <nav class="pager" aria-label="Pages of activity">
          <a class="button" href={withQuery({ before: String(found.value.next_before) })}>
            Older
          </a>
        </nav>
      ) : null}
    </section>
  );
}
