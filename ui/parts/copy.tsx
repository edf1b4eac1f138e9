import { SHARED } from '../words/shared.ts';
import { Icon } from './icon.tsx';
import { notify, notifyError } from './toasts.ts';

/** Copies a text. Without a clipboard, as over plain HTTP from another machine, a text field is used instead. */
async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error(SHARED.copyBlocked);
}

export function copy(text: string): void {
  toClipboard(text).then(() => notify(SHARED.copied), notifyError);
}

export function CopyButton({ text, label, word }: { text: string; label: string; word?: string }) {
  return (
    <button
      type="button"
      class={word === undefined ? 'plain' : 'small'}
      title={label}
      onClick={() => copy(text)}
    >
      <Icon name="copy" />
      {word ?? <span class="hidden">{label}</span>}
    </button>
  );
}

/** Shows a command that can be copied. */
export function Cli({ text }: { text: string }) {
  return (
    <span class="cli">
      <code>{text}</code>
      <CopyButton text={text} label={SHARED.copyCommand} />
    </span>
  );
}
