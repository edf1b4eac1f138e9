import type { Flag, Input } from './command.ts';

/** The format of a list. A template names fields of its objects. */
export type Format = 'table' | 'tsv' | 'csv' | 'json' | 'jsonl' | 'ids' | Template;
/** Literal texts and fields, in order. */
export type Template = (string | { field: string })[];
export type TimeStyle = 'iso' | 'relative' | 'local' | 'unix';

/** The flags that control the output. Null means that the flag is not given. */
export interface Layout {
  format: Format | null;
  /** The fields of each JSON object to print. */
  fields: string[] | null;
  time: TimeStyle | null;
  utc: boolean;
  header: boolean;
  /** True if nothing is cut or left out to fit the terminal. */
  wide: boolean;
}

export const DEFAULT_LAYOUT: Layout = {
  format: null,
  fields: null,
  time: null,
  utc: false,
  header: false,
  wide: false,
};

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

/** Tells whether a layout flag is given. The code that reads these flags is loaded only then. */
export function hasLayoutFlags(input: Input): boolean {
  return (
    ['format', ...Object.keys(LIST_FLAGS)].some((flag) => input.has(flag)) || input.all('json').some(Boolean)
  );
}

/** Returns an object as JSON text, with all fields or the selected ones. A missing field becomes null. */
export function jsonText(io: { layout: Layout }, object: object): string {
  const { fields } = io.layout;
  if (fields === null) return JSON.stringify(object);
  return JSON.stringify(
    Object.fromEntries(fields.map((field) => [field, (object as Record<string, unknown>)[field] ?? null])),
  );
}
