import { useSignal } from '@preact/signals';
import { Cli } from '../parts/copy.tsx';
import { LOGIN } from '../words/frame.ts';
import { entering, logIn } from './login.ts';
import { apiOrigin } from './mount.ts';
import { loginReason } from './session.ts';

/** Asks for the token and shows the reason. */
export function LoginPage() {
  const typed = useSignal('');
  const unreadable = useSignal(false);
  if (entering.value) return <main class="login-page" aria-busy="true" />;
  const reason = unreadable.value ? LOGIN.unreadable : LOGIN.reasons[loginReason.value];
  // The page may belong to a server that has ended. Then whatever has its port now must not get the token.
  const isOld = loginReason.value === 'restarted' && apiOrigin() !== location.origin;
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
          const text = typed.value.trim();
          const found = /^(?:\S*#token=)?([\w-]{20,})$/.exec(text)?.[1];
          typed.value = '';
          unreadable.value = found === undefined;
          if (/^https?:/.test(text) && !text.startsWith(`${location.origin}/`)) location.href = text;
          else if (found !== undefined && !isOld) void logIn(found);
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
