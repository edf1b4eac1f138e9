import { checkCommand } from '../core/command-text.ts';
import type { JobInput } from '../core/job-input.ts';

/** Tells whether a text begins with `{` or `[` after any white space. It is then read as JSON, and otherwise as a command. */
export function looksLikeJson(text: string): boolean {
  const start = text.trimStart()[0];
  return start === '{' || start === '[';
}

export function readCommand(text: string): JobInput {
  return { command: checkCommand(text, 'command') };
}
