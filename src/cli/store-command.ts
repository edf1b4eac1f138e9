import { resolve } from 'node:path';
import { shellWord } from '../core/shell-quote.ts';
import { isServerUrl } from '../store/location.ts';
import type { Context, Input } from './command.ts';

/**
 * Returns the start of a command for the same store, for hints: `queuectl`, with --db if this command has it. It contains no password,
 * and leads to the same store from any directory.
 */
export async function storeCommand(context: Context, input: Input): Promise<string> {
  if (input.one('db') === undefined) return 'queuectl';
  return `queuectl --db ${storeWord(await context.storeName())}`;
}

/** Returns the name of a store as one word for a shell. A path becomes absolute, so that it names the same store in any directory. */
export function storeWord(name: string): string {
  return shellWord(isServerUrl(name) ? name : resolve(name));
}
