import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { PALETTE } from '../words/frame.ts';
import { paletteOpen } from './overlays.ts';
import { type Entry, entriesFor, jobsFor } from './palette-entries.ts';

const SEARCH_MS = 150;
const close = (): void => {
  paletteOpen.value = false;
};

export function Palette() {
  return paletteOpen.value ? <Open /> : null;
}

function Open() {
  const text = useSignal('');
  const at = useSignal(0);
  const jobs = useSignal<Entry[]>([]);
  useEffect(() => {
    const wanted = text.value.trim();
    const timer = setTimeout(async () => {
      const found = wanted === '' ? [] : await jobsFor(wanted);
      if (text.value.trim() === wanted) jobs.value = found;
    }, SEARCH_MS);
    return () => clearTimeout(timer);
  }, [text.value]);
  const entries = [...entriesFor(text.value), ...jobs.value];
  const current = Math.min(at.value, entries.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') at.value = Math.min(entries.length - 1, current + 1);
    else if (event.key === 'ArrowUp') at.value = Math.max(0, current - 1);
    else if (event.key === 'Enter') run(entries[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label={PALETTE.title} class="palette" onClose={close}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${current}`}
        aria-label={PALETTE.field}
        placeholder={PALETTE.field}
        autocomplete="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label={PALETTE.results}>
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={entry.kind + entry.title}
            id={`palette-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === current}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} />
            <span class="grow">{entry.title}</span>
            <span class="faint">{entry.kind}</span>
          </div>
        ))}
        {entries.length === 0 ? <p class="faint">{PALETTE.none}</p> : null}
      </div>
    </Dialog>
  );
}
