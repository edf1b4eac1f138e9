import { part } from '../api.ts';
import { Empty } from '../components/empty.tsx';
import { PausedTag } from '../components/head.tsx';
import { Since } from '../components/time.tsx';
import { number, visible } from '../format.ts';
import { focusedRow, useKeys } from '../keys.ts';
import { limiting } from '../overlays.ts';
import { setPaused } from '../queue-acts.ts';
import { bad, ended, useSeries } from '../series.ts';
import { queues, readOnly } from '../store.ts';
import type { Figures, Named, Queue, State } from '../types.ts';

export function QueuesPage() {
  const hour = useSeries('1h', { names: true });
  const day = useSeries('24h', { names: true });
  useKeys({
    p: () => {
      const found = queues.value?.find(({ name }) => name === focusedRow());
      if (found !== undefined && !readOnly.value) void setPaused(found.name, !found.paused);
    },
  });
  if (queues.value === null) return null;
  if (queues.value.length === 0)
    return (
      <Empty
        text="A queue is there when the first job is put into it."
        cli="queuectl enqueue 'echo hello' --queue mail"
      />
    );
  return (
    <section aria-label="Queues">
      <h1 class="hidden">Queues</h1>
      <div class="table">
        <table class="stack">
          <thead>
            <tr>
              <th>Queue</th>
              <th class="right">Waiting</th>
              <th class="right">Running</th>
              <th class="right">Limit</th>
              <th class="right">Rate</th>
              <th class="right">Retry due</th>
              <th class="right">Oldest waits</th>
              <th class="right">In, 1 h</th>
              <th class="right">Out, 1 h</th>
              <th class="right">Failed, 24 h</th>
              <th class="right">Dead</th>
              {readOnly.value ? null : <th>Actions</th>}
            </tr>
          </thead>
          <tbody>
            {queues.value.map((queue) => (
              <Row
                key={queue.name}
                queue={queue}
                hour={hour.value?.names ?? []}
                day={day.value?.names ?? []}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const sum = (names: Named[], queue: string, of: (one: Figures) => number): number =>
  names.filter((one) => one.queue === queue).reduce((all, one) => all + of(one), 0);

function Row({ queue, hour, day }: { queue: Queue; hour: Named[]; day: Named[] }) {
  const { name, paused, concurrency, rate, oldest_waiting_at: oldest } = queue;
  return (
    <tr data-row={name}>
      <td>
        <a class="id" href={`/queues/${part(name)}`}>
          {visible(name)}
        </a>{' '}
        <PausedTag {...queue} />
      </td>
      <Count queue={queue} state="pending" label="waiting" />
      <Count queue={queue} state="processing" label="running" />
      <td class="right number" data-label="limit">
        {concurrency === null ? <span class="faint">none</span> : number(concurrency)}
      </td>
      <td class="right number" data-label="rate">
        {rate ?? <span class="faint">none</span>}
      </td>
      <Count queue={queue} state="failed" label="retry due" />
      <td class="right number" data-label="oldest waits">
        {oldest === null ? <span class="faint">–</span> : <Since at={oldest} />}
      </td>
      <td class="right number" data-label="in, 1 h">
        {number(sum(hour, name, ({ enqueued }) => enqueued))}
      </td>
      <td class="right number" data-label="out, 1 h">
        {number(sum(hour, name, ended))}
      </td>
      <td class="right number" data-label="failed, 24 h">
        {number(sum(day, name, bad))}
      </td>
      <Count queue={queue} state="dead" label="dead" />
      {readOnly.value ? null : (
        <td class="wide">
          <span class="buttons">
            <button type="button" class="small" onClick={() => void setPaused(name, !paused)}>
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button
              type="button"
              class="small"
              onClick={() => {
                limiting.value = queue;
              }}
            >
              Limits
            </button>
          </span>
        </td>
      )}
    </tr>
  );
}

function Count({ queue: { name, jobs }, state, label }: { queue: Queue; state: State; label: string }) {
  return (
    <td class="right number" data-label={label}>
      {jobs[state] === 0 ? (
        <span class="faint">0</span>
      ) : (
        <a href={`/jobs?queue=${part(name)}&state=${state}`}>{number(jobs[state])}</a>
      )}
    </td>
  );
}
