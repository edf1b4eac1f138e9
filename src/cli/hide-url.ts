import { STORE_VARIABLE } from '../exec/variables.ts';
import type { Context, Input } from './command.ts';

/**
 * Returns the arguments of this command for another process, and the variables that it needs. Every user of the machine can
 * see the arguments of a process, so a database URL, which may have a password, becomes a variable.
 */
export function argumentsWithoutUrl(context: Context, input: Input) {
  const args = process.argv.slice(2);
  const given = input.one('db');
  if (given === undefined || !given.includes('://')) return { args, variables: {} };
  const isFlagOf = (arg: string, next: string | undefined): boolean => arg.startsWith('--') && next === given;
  // The flag is found by its value, because it has several names.
  const kept = args.filter(
    (arg, i) =>
      !isFlagOf(arg, args[i + 1]) &&
      !isFlagOf(args[i - 1] ?? '', arg) &&
      !(arg.startsWith('--') && arg.endsWith(`=${given}`)),
  );
  return { args: kept, variables: { [STORE_VARIABLE]: context.location } };
}
