import { SHARED } from '../words/shared.ts';
import { InlineHint } from './empty.tsx';
import { sentence } from './format.ts';
import { Icon } from './icon.tsx';
import { dismiss, toasts } from './toasts.ts';

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map(({ number, kind, text, code, hint }) => (
        <div key={number} class={`toast toast-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
          <Icon name={kind === 'bad' ? 'warning' : 'completed'} />
          <div>
            <p>{sentence(text)}</p>
            {code === null ? null : <p class="faint">{code}</p>}
            <InlineHint text={hint} />
          </div>
          <button type="button" class="plain" onClick={() => dismiss(number)}>
            <Icon name="close" />
            <span class="hidden">{SHARED.dismiss}</span>
          </button>
        </div>
      ))}
    </div>
  );
}
