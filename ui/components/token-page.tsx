import { useSignal } from '@preact/signals';
import { refused, useToken } from '../token.ts';
import { Cli } from './copy.tsx';

/** Without the token nothing can be seen. Where it comes from: */
export function TokenPage() {
  const typed = useSignal('');
  return (
    <main class="token-page">
      <h1>queuectl</h1>
      <p>
        {refused.value
          ? 'The server does not take this token any more. It prints the address with the right one when it starts:'
          : 'This page needs the token of the store. The server prints the address with it when it starts:'}
      </p>
      <Cli text="queuectl serve" />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const found = /(?:#token=)?([\w-]{20,})\s*$/.exec(typed.value)?.[1];
          if (found !== undefined) useToken(found);
        }}
      >
        <label class="field">
          The address that it printed, or the token
          <input
            type="password"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
      <p class="faint">It stays in this tab, and is gone when the tab is closed.</p>
    </main>
  );
}
