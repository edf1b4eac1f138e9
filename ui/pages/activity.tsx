import { Empty, Trouble } from '../components/empty.tsx';
import { EventTable } from '../components/event-table.tsx';
import { useData } from '../data.ts';
import { place, withQuery } from '../router.ts';
import type { StoreEvent } from '../types.ts';

const LIMIT = 100;
const KINDS: Record<string, string> = {
  everything: '',
  'by people':
    'cancelled,retried,held,released,edited,deleted,queue-paused,queue-resumed,queue-set,setting-set,setting-unset,schedule-added,schedule-removed,schedule-paused,schedule-resumed',
  failures: 'failed,dead,requeued',
  workers: 'worker-ready,worker-stopped',
};

export function ActivityPage() {
  const { query } = place.value;
  const kind = query.get('kind') ?? '';
  const asked = new URLSearchParams({ limit: String(LIMIT) });
  for (const field of ['kind', 'queue', 'job', 'before']) {
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
