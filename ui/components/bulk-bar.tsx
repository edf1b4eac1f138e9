import { useSignal } from '@preact/signals';
import { actOnMany, type Selected, type Verb } from '../acts.ts';
import { actCommand } from '../cli.ts';
import { number } from '../format.ts';
import { CopyButton } from './copy.tsx';

const SHOWN: Verb[] = ['retry', 'cancel', 'hold', 'release', 'delete'];

interface BulkBarProps {
  selected: Selected;
  /** The whole page is selected, and there is more. */
  more: string | null;
  onAll(): void;
  onDone(): void;
}

/** What can be done with the selected jobs. */
export function BulkBar({ selected, more, onAll, onDone }: BulkBarProps) {
  const edit = useSignal('');
  const count = 'ids' in selected ? selected.ids.length : selected.count;
  const plus = 'capped' in selected && selected.capped ? '+' : '';
  const act = async (verb: Verb | 'edit', changes?: Record<string, unknown>): Promise<void> => {
    if (await actOnMany(verb, selected, changes)) onDone();
  };
  return (
    <div class="bulk" role="toolbar" aria-label="Selected jobs">
      <strong>
        {number(count)}
        {plus} selected
      </strong>
      {more === null ? null : (
        <button type="button" class="small" onClick={onAll}>
          Select all {more} matching
        </button>
      )}
      <span class="grow" />
      {SHOWN.map((verb) => (
        <button
          key={verb}
          type="button"
          class={verb === 'delete' ? 'small danger-text' : 'small'}
          onClick={() => void act(verb)}
        >
          {verb[0]!.toUpperCase() + verb.slice(1)}
        </button>
      ))}
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          const [, field, value] = /^(p|priority|queue|q)[:= ]\s*(\S+)$/.exec(edit.value.trim()) ?? [];
          if (field === undefined) return;
          const name = field.startsWith('p') ? 'priority' : 'queue';
          void act('edit', { [name]: /^-?\d+$/.test(value!) && name === 'priority' ? Number(value) : value });
        }}
      >
        <input
          class="small"
          aria-label="Set priority or queue, such as priority=5 or queue=mail"
          placeholder="priority=5, queue=mail"
          value={edit.value}
          onInput={(event) => {
            edit.value = event.currentTarget.value;
          }}
        />
      </form>
      <CopyButton text={actCommand('retry', selected)} label="Copy a retry of these as CLI" word="CLI" />
      <button type="button" class="small" onClick={onDone}>
        Clear
      </button>
    </div>
  );
}
