import { useSignal } from '@preact/signals';
import { part } from '../api.ts';
import { Empty } from '../components/empty.tsx';
import { LimitsEditor } from '../components/limits-editor.tsx';
import { Ago } from '../components/time.tsx';
import { duration, number, visible } from '../format.ts';
import { focusedRow, useKeys } from '../keys.ts';
import { setPaused } from '../queue-acts.ts';
import { queues, readOnly } from '../store.ts';
import type { Queue, State } from '../types.ts';

const COLUMNS: State[] = ['pending', 'processing', 'failed', 'dead', 'completed', 'cancelled'];

export function QueuesPage() {
  const editing = useSignal<Queue | null>(null);
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
              {COLUMNS.map((state) => (
                <th key={state} class="right">
                  {state}
                </th>
              ))}
              <th class="right">Limit</th>
              <th class="right">Rate</th>
              <th class="right">Aging</th>
              {readOnly.value ? null : <th>Actions</th>}
            </tr>
          </thead>
          <tbody>
            {queues.value.map((queue) => (
              <Row
                key={queue.name}
                queue={queue}
                onEdit={() => {
                  editing.value = queue;
                }}
              />
            ))}
          </tbody>
        </table>
      </div>
      {editing.value === null ? null : (
        <LimitsEditor
          queue={editing.value}
          onClose={() => {
            editing.value = null;
          }}
        />
      )}
    </section>
  );
}

function Row({ queue, onEdit }: { queue: Queue; onEdit(): void }) {
  const { name, jobs, paused, concurrency, rate, priority_aging_ms } = queue;
  return (
    <tr data-row={name}>
      <td>
        <a class="id" href={`/jobs?queue=${part(name)}`}>
          {visible(name)}
        </a>
        {paused ? (
          <span class="tag warn" title={`by ${queue.paused_by}`}>
            paused <Ago at={queue.paused_at} />
          </span>
        ) : null}
      </td>
      {COLUMNS.map((state) => (
        <td key={state} class="right number" data-label={state}>
          {jobs[state] === 0 ? (
            <span class="faint">0</span>
          ) : (
            <a href={`/jobs?queue=${part(name)}&state=${state}`}>{number(jobs[state])}</a>
          )}
        </td>
      ))}
      <td class="right number" data-label="limit">
        {concurrency === null ? <span class="faint">none</span> : number(concurrency)}
      </td>
      <td class="right number" data-label="rate">
        {rate ?? <span class="faint">none</span>}
      </td>
      <td class="right number" data-label="aging">
        {priority_aging_ms === null ? <span class="faint">none</span> : duration(priority_aging_ms)}
      </td>
      {readOnly.value ? null : (
        <td class="wide">
          <span class="buttons">
            <button type="button" class="small" onClick={() => void setPaused(name, !paused)}>
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button type="button" class="small" onClick={onEdit}>
              Limits
            </button>
          </span>
        </td>
      )}
    </tr>
  );
}
