import type { ComponentChildren } from 'preact';
import type { Problem } from '../api.ts';
import { Cli } from './copy.tsx';

/** Nothing here yet: how there would be. */
export function Empty({ text, cli, children }: { text: string; cli?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {cli === undefined ? null : <Cli text={cli} />}
      {children}
    </div>
  );
}

export function Trouble({ problem }: { problem: Problem }) {
  return (
    <div class="empty trouble" role="alert">
      <p>{problem.message}</p>
      <p class="faint">{problem.code}</p>
      {problem.hint === null ? null : <Cli text={problem.hint} />}
    </div>
  );
}
