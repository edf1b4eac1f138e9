import { part } from '../api.ts';
import { useData } from '../data.ts';
import { useSteady } from '../steady.ts';
import type { StoreEvent } from '../types.ts';
import { EventTable } from './event-table.tsx';

export function JobEvents({ id }: { id: string }) {
  const found = useData<{ events: StoreEvent[] }>(`/activity?limit=200&job=${part(id)}`, {
    on: ({ job_id }) => job_id === id,
  });
  const { rows } = useSteady(found.value?.events ?? [], ({ number }) => String(number), { list: id });
  return found.value === null ? null : <EventTable events={rows} of="job" />;
}
