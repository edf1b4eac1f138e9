import { EventTable } from '../events/event-table.tsx';
import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { plural } from '../parts/format.ts';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import type { StoreEvent } from '../types.ts';

export function JobEvents({ id }: { id: string }) {
  const found = useData<{ events: StoreEvent[] }>(`/activity?limit=200&job=${part(id)}`, {
    on: ({ job_id }) => job_id === id,
  });
  const list = useSteady('job events', found.value?.events ?? [], ({ number }) => String(number), {
    list: id,
  });
  if (found.value === null) return null;
  return (
    <div {...list.box}>
      <p class="line">
        <span class="faint">{plural(found.value.events.length, 'event')}</span>
        <ShowNew of={list} noun="event" />
      </p>
      <EventTable events={list.rows} of="job" />
    </div>
  );
}
