import { part } from '../frame/api.ts';
import { now, utc } from '../frame/store.ts';
import { duration, localTime, sentence, size, visible } from '../parts/format.ts';
import { Table } from '../parts/table-box.tsx';
import { Time } from '../parts/time.tsx';
import type { StoreEvent } from '../types.ts';
import { EVENTS } from '../words/activity.ts';
import { OUTCOMES } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';

const PLAIN = ['number', 'at', 'kind', 'actor', 'job_id', 'queue', 'attempt'];

export function EventTable({ events, of = 'all' }: { events: StoreEvent[]; of?: 'all' | 'job' }) {
  return (
    <Table
      look="events"
      heads={[
        EVENTS.time,
        EVENTS.event,
        of === 'job' ? null : SHARED.job,
        of === 'job' ? null : SHARED.queue,
        EVENTS.actor,
        EVENTS.details,
      ]}
    >
      {events.map((event) => (
        <tr key={event.number} data-row={event.number}>
          <td class="number">
            <Time at={event.at} />
          </td>
          <td>
            {EVENTS.kinds[event.kind] ?? event.kind}
            {event.attempt === null ? null : <span class="faint">{EVENTS.attempt(event.attempt)}</span>}
          </td>
          {of === 'job' ? null : (
            <td>
              {event.job_id === null ? null : (
                <a class="id" href={`/jobs/${part(event.job_id)}`}>
                  {event.job_id}
                </a>
              )}
            </td>
          )}
          {of === 'job' ? null : <td>{visible(event.queue ?? '')}</td>}
          <td class="faint">
            {of === 'job' || event.actor === null ? (
              visible(event.actor ?? '')
            ) : (
              <a href={`/activity?actor=${part(event.actor)}`}>{visible(event.actor)}</a>
            )}
          </td>
          <td class="command">{details(event)}</td>
        </tr>
      ))}
    </Table>
  );
}

function details(event: StoreEvent): string {
  return Object.entries(event)
    .filter(
      ([name, value]) => !PLAIN.includes(name) && value !== null && value !== false && value !== 'exited',
    )
    .map(([name, value]) => detail(EVENTS.names[name] ?? name.replaceAll('_', ' '), valueText(name, value)))
    .join(' · ');
}

const detail = (name: string, value: string): string => sentence(value === '' ? name : `${name}: ${value}`);

function valueText(name: string, value: unknown): string {
  if (value === true) return '';
  if (typeof value === 'string' && name.endsWith('_at')) return localTime(value, now.peek(), utc.value);
  if (typeof value === 'number' && name.endsWith('_ms')) return duration(value);
  if (typeof value === 'number' && name === 'bytes') return size(value);
  if (name === 'outcome') return OUTCOMES.others[String(value)] ?? String(value);
  if (Array.isArray(value)) return visible(value.join(', '));
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
