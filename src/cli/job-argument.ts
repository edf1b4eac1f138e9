import { statSync } from 'node:fs';
import { usageError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Input } from './command.ts';

/** Returns the input with `@FILE` read as `--file FILE`. Throws if the name of a JSON file would be run as a command. */
export function withFileArgument(input: Input): Input {
  const [first] = input.args;
  if (first === undefined || input.args.length > 1) return input;
  if (first.includes('.')) refuseJsonFileAsCommand(first);
  if (!first.startsWith('@')) return input;
  const file = first.slice(1);
  if (file === '')
    throw usageError('the file name after @ is missing', 'for example: queuectl enqueue @jobs.json');
  if (input.has('file')) throw usageError('give the file only once: as an argument or with --file');
  return {
    ...input,
    args: [],
    has: (flag) => flag === 'file' || input.has(flag),
    one: (flag) => (flag === 'file' ? file : input.one(flag)),
  };
}

/** Throws if the input names a file of jobs, for a command that runs one job. */
export function refuseJobFile(input: Input): void {
  const file = withFileArgument(input).one('file');
  if (file !== undefined)
    throw usageError(
      'run takes one job, not a file of jobs',
      `to enqueue the file and wait: queuectl enqueue --wait --file ${shellWord(file)}`,
    );
}

function refuseJsonFileAsCommand(name: string): void {
  if (!isJsonFileName(name)) return;
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || (stat.mode & 0o111) !== 0) return;
  throw usageError(
    `${name} is a file of jobs, not a command`,
    `to enqueue the jobs in the file: queuectl enqueue --file ${shellWord(name)}`,
  );
}

const isJsonFileName = (name: string): boolean => /^[^@\s]\S*\.(json|jsonl|ndjson)$/i.test(name);

/** Returns a hint for a command that was given as several arguments, and undefined for a single one. */
export function severalWordsHint(name: string, words: string[], flags: string[]): string | undefined {
  const [first, second] = words;
  // A program is one word and not a flag. Otherwise, what follows -- would not run.
  if (words.length < 2 || first!.startsWith('-') || /\s/.test(first!)) return undefined;
  const start = ['queuectl', name, ...flags.map(shellWord)].join(' ');
  // Other job queue programs take an id and a command, as in `add job1 'echo hello'`.
  if (words.length === 2 && /^[\w.-]+$/.test(first!) && /\s/.test(second!))
    return `to choose the id: ${start} --id ${first} ${shellWord(second!)}`;
  return `put the command after --: ${start} -- ${words.map(shellWord).join(' ')}`;
}
