import type { ComponentChildren } from 'preact';
import { queues } from '../frame/store.ts';
import { SHARED } from '../words/shared.ts';
import { Cli } from './copy.tsx';
import { InlineHint } from './empty.tsx';
import { sentence } from './format.ts';

/** Offers the names of queues for an input. */
export function QueueNames({ id }: { id: string }) {
  return (
    <datalist id={id}>
      {(queues.peek() ?? []).map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

interface FormEndProps {
  cli: string;
  wrong: { message: string; hint: string | null } | null;
  ready: boolean;
  onCancel: () => void;
  children: ComponentChildren;
}

/** Ends a form: the command line, the problem if there is one, and the two buttons. */
export function FormEnd({ cli, wrong, ready, onCancel, children }: FormEndProps) {
  return (
    <>
      <p class="label">{SHARED.commandLine}</p>
      <Cli text={cli} />
      {wrong === null ? null : (
        <p class="wrong" role="alert">
          {sentence(wrong.message)} <InlineHint text={wrong.hint} />
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          {SHARED.cancel}
        </button>
        <button type="submit" class="primary" disabled={!ready}>
          {children}
        </button>
      </div>
    </>
  );
}
