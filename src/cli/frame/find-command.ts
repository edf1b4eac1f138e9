import { entryOf } from '../../core/text/language.ts';
import enqueue from '../commands/enqueue.ts';
import type { Block } from '../help/help-page.ts';
import { type Command, type LoadCommand, loadCommand } from './command.ts';
import { hasFlags, splitAtDashes } from './parse.ts';

export interface FoundCommand {
  command: Command;
  args: string[];
}

/**
 * Finds a command and its arguments. Returns a help page or the version as text if the user asks for it, and a help page
 * if there is no command. Throws if the command is unknown. Loads the table of all commands only if it is needed.
 */
export async function findCommand(args: string[]): Promise<FoundCommand | Block[] | string> {
  const at = wordIndex(args);
  const load = entryOf(TEXT_COMMANDS, args[at]);
  if (load === undefined) return (await import('./find-any-command.ts')).findAnyCommand(args);
  return commandOrHelp(load, [...args.slice(0, at), ...args.slice(at + 1)]);
}

/** The global flags that have a value as their next argument. */
const GLOBAL_VALUE_FLAGS = ['--db', '--color', '--store-timeout'];

/** Returns the index of the first word before `--`, or -1. Starts at `from`. Skips flags and the values of global flags. */
export function wordIndex(args: string[], from = 0): number {
  for (let i = from; i < args.length; i++) {
    if (args[i] === '--') return -1;
    if (GLOBAL_VALUE_FLAGS.includes(args[i]!)) i++;
    else if (!args[i]!.startsWith('-')) return i;
  }
  return -1;
}

/** Returns the command with its arguments, or its help page with --help, even if other flags are invalid. */
export async function commandOrHelp(load: LoadCommand, args: string[]): Promise<FoundCommand | Block[]> {
  const command = hasFlags(args) ? await loadCommand(load) : (await load()).default;
  if (!asksForHelp(splitAtDashes(args)[0])) return { command, args };
  return (await import('../help/help.ts')).commandHelp(command);
}

export const asksForHelp = (args: string[]): boolean => args.includes('--help') || args.includes('-h');

/** The commands whose argument is any text. So no alias consists of one of their names and a second word. */
export const TEXT_COMMANDS: Record<string, LoadCommand> = {
  // Scripts start this one most often, so it is not loaded by an `import()`.
  enqueue: async () => ({ default: enqueue }),
  run: () => import('../commands/run.ts'),
};
