import { useSignal } from '@preact/signals';
import { entering, logIn } from '../login.ts';
import { type Asking, asking } from '../session.ts';
import { Cli } from './copy.tsx';

const REASONS: Record<Asking, string | null> = {
  first: null,
  restarted: 'The server was restarted. Your session ended with the old server.',
  ended: 'Your session has ended. It was not used for 12 hours, or the token was replaced.',
  'logged-out': 'You have logged out.',
  rejected: 'The server rejected this token.',
  throttled: 'Too many wrong tokens. Wait a few seconds, then try again.',
  'no-answer': 'The server does not answer. Check that it is running, then try again.',
};

/** Asks for the token, and says why. */
export function LoginPage() {
  const typed = useSignal('');
  const unreadable = useSignal(false);
  if (entering.value) return <main class="login-page" aria-busy="true" />;
  const reason = unreadable.value
    ? 'This is not a token, and not an address with a token.'
    : REASONS[asking.value];
  return (
    <main class="login-page">
      <h1>Log in to queuectl</h1>
      {reason === null ? null : (
        <p class="login-reason" role="alert">
          {reason}
        </p>
      )}
      <p>Open the address that this command prints in a terminal, or enter it below:</p>
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
          Address or token
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
          Log in
        </button>
      </form>
      <p class="faint">
        A server that runs in the background prints the path of its token file instead of the address.
      </p>
      <p class="faint">
        The token is not stored. All tabs of this browser share one session, which ends when you log out,
        after 12 hours without use, or when the server stops.
      </p>
    </main>
  );
}
