import { useSignal } from '@preact/signals';
import { entering, logIn } from '../login.ts';
import { loginReason } from '../session.ts';
import { LOGIN } from '../words/frame.ts';
import { Cli } from './copy.tsx';

/** Asks for the token and shows the reason. */
export function LoginPage() {
  const typed = useSignal('');
  const unreadable = useSignal(false);
  if (entering.value) return <main class="login-page" aria-busy="true" />;
  const reason = unreadable.value ? LOGIN.unreadable : LOGIN.reasons[loginReason.value];
  return (
    <main class="login-page">
      <h1>{LOGIN.title}</h1>
      {reason === null ? null : (
        <p class="login-reason" role="alert">
          {reason}
        </p>
      )}
      <p>{LOGIN.run}</p>
      <Cli text="queuectl dashboard" />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const found = /^(?:\S*#token=)?([\w-]{20,})$/.exec(typed.value.trim())?.[1];
          typed.value = '';
          unreadable.value = found === undefined;
          if (found !== undefined) void logIn(found);
        }}
      >
        <label class="field">
          {LOGIN.field}
          {/* Not a password field: browsers offer to save those. */}
          <input
            type="text"
            class="masked"
            autocomplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="primary">
          {LOGIN.button}
        </button>
      </form>
      <p class="faint">{LOGIN.background}</p>
      <p class="faint">{LOGIN.session}</p>
    </main>
  );
}
