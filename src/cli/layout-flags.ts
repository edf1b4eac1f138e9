import type { Flag, Input } from './command.ts';

export const TIME_FLAGS: Record<string, Flag> = {
  time: {
    value: 'iso|relative|local|unix',
    help: 'how to show times (default: relative in tables, iso elsewhere)',
  },
  utc: { help: 'show dates and times in UTC' },
};

/** Returns the flags of a command that prints a list. `template` is an example for the help. */
export function listFlags(template: string): Record<string, Flag> {
  const format = {
    value: 'FORMAT',
    help: `output format: table, tsv, csv, json, jsonl, ids, or a template such as '${template}'`,
  };
  return { format, ...LIST_FLAGS };
}

const LIST_FLAGS: Record<string, Flag> = {
  ...TIME_FLAGS,
  header: { help: 'print column titles in the first line (only for tsv and csv)' },
  wide: { help: 'show all columns in full, even if they do not fit the terminal' },
};

/** Tells whether a layout flag is given. */
export function hasLayoutFlags(input: Input): boolean {
  return (
    ['format', ...Object.keys(LIST_FLAGS)].some((flag) => input.has(flag)) || input.all('json').some(Boolean)
  );
}
