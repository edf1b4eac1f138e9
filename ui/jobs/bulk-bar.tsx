import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { number } from '../parts/format.ts';
import { Menu } from '../parts/menu.tsx';
import { ACTIONS, BULK } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { actOnMany, type Selected, type Verb } from './acts.ts';

const SHOWN: Verb[] = ['retry', 'cancel', 'hold', 'release', 'delete'];

interface BulkBarProps {
  /** Null while the jobs are being counted. */
  selected: Selected | null;
  /** The number of all matches, if the whole page is selected and there are more. */
  more: string | null;
  onAll(): void;
  onDone(): void;
  /** Tells of new jobs. */
  news: ComponentChildren;
  children: ComponentChildren;
}

/** Offers actions for the selected jobs. */
export function BulkBar({ selected, more, onAll, onDone, news, children }: BulkBarProps) {
  const priority = useSignal('');
  const queue = useSignal('');
  const act = async (verb: Verb | 'edit', changes?: Record<string, unknown>): Promise<void> => {
    if (selected !== null && (await actOnMany(verb, selected, changes))) onDone();
  };
  return (
    <div class="bulk" role="toolbar" aria-label={BULK.toolbar}>
      <strong>{selected === null ? BULK.counting : BULK.selected(many(selected))}</strong>
      {more === null ? null : (
        <button type="button" class="small" onClick={onAll}>
          {BULK.selectAll(more)}
        </button>
      )}
      {news}
      <span class="grow" />
      {SHOWN.map((verb) => (
        <button
          key={verb}
          type="button"
          class={verb === 'delete' ? 'small danger-text' : 'small'}
          disabled={selected === null}
          onClick={() => void act(verb)}
        >
          {ACTIONS[verb].label}
        </button>
      ))}
      <Menu label={ACTIONS.edit.label} icon="settings">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const changes = bulkChanges(priority.value.trim(), queue.value.trim());
            if (Object.keys(changes).length > 0) void act('edit', changes);
          }}
        >
          <Field label={SHARED.priority} value={priority} hint={SHARED.priorityHint} />
          <Field label={SHARED.queue} value={queue} hint={BULK.newQueueHint} />
          <button type="submit" class="small" disabled={selected === null}>
            {BULK.apply}
          </button>
        </form>
      </Menu>
      {children}
      <button type="button" class="small" onClick={onDone}>
        {BULK.clear}
      </button>
    </div>
  );
}

function many(selected: Selected): string {
  if ('ids' in selected) return number(selected.ids.length);
  return number(selected.count) + (selected.capped ? '+' : '');
}

function Field({ label, value, hint }: { label: string; value: Signal<string>; hint: string }) {
  return (
    <label class="field">
      {label}
      <input
        value={value.value}
        placeholder={hint}
        autocomplete="off"
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
    </label>
  );
}

function bulkChanges(priority: string, queue: string): Record<string, unknown> {
  return {
    ...(priority === '' ? {} : { priority: /^-?\d+$/.test(priority) ? Number(priority) : priority }),
    ...(queue === '' ? {} : { queue }),
  };
}
