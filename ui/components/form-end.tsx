import type { ComponentChildren } from 'preact';
import { sentence } from '../format.ts';
import { queues } from '../store.ts';
import { SHARED } from '../words/shared.ts';
import { Cli } from './copy.tsx';

/** What is offered where the name of a queue is typed. */
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

/** How a form ends: the same on the command line, what is wrong, and the two ways out. */
export function FormEnd({ cli, wrong, ready, onCancel, children }: FormEndProps) {
  return (
    <>
      <p class="label">{SHARED.commandLine}</p>
      <Cli text={cli} />
      {wrong === null ? null : (
        <p class="wrong" role="alert">
          {sentence(wrong.message)} {wrong.hint === null ? null : <code>{wrong.hint}</code>}
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
