import type { ComponentChildren } from 'preact';
import type { Problem } from '../frame/api.ts';
import { Cli } from './copy.tsx';
import { sentence } from './format.ts';

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

/** Shows that an address leads nowhere, with a link to a page that exists. */
export function Missing({
  text,
  cli,
  href,
  link,
}: {
  text: string;
  cli?: string;
  href: string;
  link: string;
}) {
  return (
    <Empty text={text} {...(cli === undefined ? {} : { cli })}>
      <a class="button" href={href}>
        {link}
      </a>
    </Empty>
  );
}

/** Splits a hint. It is a sentence, a command, or a purpose with a command: "to list the jobs: queuectl list". */
function hintParts(text: string): { purpose: string | undefined; command: string | undefined } {
  const [, purpose, command] = /^(?:([^:]*): )?(queuectl [^.]*)$/.exec(text) ?? [];
  return { purpose, command };
}

/** Shows a hint as part of a line. */
export function InlineHint({ text }: { text: string | null }) {
  if (text === null) return null;
  const { purpose, command } = hintParts(text);
  if (command === undefined) return <>{sentence(text)}</>;
  return (
    <>
      {purpose === undefined ? '' : `${sentence(purpose)}: `}
      <code>{command}</code>
    </>
  );
}

/** Shows a hint. A command can be copied. */
function Hint({ text }: { text: string | null }) {
  if (text === null) return null;
  const { purpose, command } = hintParts(text);
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
