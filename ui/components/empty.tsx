import type { ComponentChildren } from 'preact';
import type { Problem } from '../api.ts';
import { sentence } from '../format.ts';
import { Cli } from './copy.tsx';

/** Shows that a list is empty, and how to fill it. */
export function Empty({ text, cli, children }: { text: string; cli?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {cli === undefined ? null : <Cli text={cli} />}
      {children}
    </div>
  );
}

/** Shows a hint. A command can be copied. */
function Hint({ text }: { text: string | null }) {
  if (text === null) return null;
  // A hint is a sentence, a command, or a purpose with a command: "to list the jobs: queuectl list".
  const [, purpose, command] = /^(?:([^:]*): )?(queuectl [^.]*)$/.exec(text) ?? [];
  if (command === undefined) return <p>{sentence(text)}</p>;
  return (
    <>
      {purpose === undefined ? null : <p>{sentence(purpose)}:</p>}
      <Cli text={command} />
    </>
  );
}

export function Trouble({ problem }: { problem: Problem }) {
  return (
    <div class="empty trouble" role="alert">
      <p>{sentence(problem.message)}</p>
      <p class="faint">{problem.code}</p>
      <Hint text={problem.hint} />
    </div>
  );
}
