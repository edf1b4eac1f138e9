import { part } from '../api.ts';
import { useData } from '../data.ts';
import { plural } from '../format.ts';
import { useSteady } from '../steady.ts';
import type { StoreEvent } from '../types.ts';
import { EventTable } from './event-table.tsx';
import { ShowNew } from './show-new.tsx';

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
