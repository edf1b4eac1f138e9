import { part } from '../api.ts';
import { duration, localTime, visible } from '../format.ts';
import { now, utc } from '../store.ts';
import type { StoreEvent } from '../types.ts';
import { Time } from './time.tsx';

const PLAIN = ['number', 'at', 'kind', 'actor', 'job_id', 'queue', 'attempt'];

export function EventTable({ events, of = 'all' }: { events: StoreEvent[]; of?: 'all' | 'job' }) {
  return (
    <div class="table">
      <table class="stack">
        <thead>
          <tr>
            <th>When</th>
            <th>What</th>
            {of === 'job' ? null : <th>Job</th>}
            {of === 'job' ? null : <th>Queue</th>}
            <th>Who</th>
            <th>More</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.number}>
              <td class="number">
                <Time at={event.at} />
              </td>
              <td>
                {event.kind}
                {event.attempt === null ? null : <span class="faint"> #{event.attempt}</span>}
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
              <td class="command">{more(event)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function more(event: StoreEvent): string {
  return Object.entries(event)
    .filter(([name, value]) => !PLAIN.includes(name) && value !== null && value !== false)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${worded(name, value)}`)
    .join(', ');
}

function worded(name: string, value: unknown): string {
  if (typeof value === 'string' && name.endsWith('_at')) return localTime(value, now.peek(), utc.value);
  if (typeof value === 'number' && name.endsWith('_ms')) return duration(value);
  return visible(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
