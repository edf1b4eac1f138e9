import type { Flag, Input } from './command.ts';

/** The format of a list. A template names fields of its objects. */
export type Format = 'table' | 'tsv' | 'csv' | 'json' | 'jsonl' | 'ids' | Template;
/** Literal texts and fields, in order. */
export type Template = (string | { field: string })[];
export type TimeStyle = 'iso' | 'relative' | 'local' | 'unix';

/** Holds the flags that control the output. Null stands for the default. */
export interface Layout {
  format: Format | null;
  /** The fields of each JSON object to print. */
  fields: string[] | null;
  time: TimeStyle | null;
  utc: boolean;
  header: boolean;
  /** Cuts and omits nothing to fit the terminal. */
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

/** Returns the flags of a command that prints a list. The template is an example with fields of its objects. */
export function listFlags(template: string): Record<string, Flag> {
  const format = {
    value: 'FORMAT',
    help: `output format: table, tsv, csv, json, jsonl, ids, or a template such as '${template}'`,
  };
  return { format, ...LOOK_FLAGS };
}

const LOOK_FLAGS: Record<string, Flag> = {
  ...TIME_FLAGS,
  header: { help: 'print column titles in the first line (only for tsv and csv)' },
  wide: { help: 'show all columns in full, even if they do not fit the terminal' },
};

/** Checks for flags of the layout, so that the code that reads them is loaded only when needed. */
export function hasLayoutFlags(input: Input): boolean {
  return (
    ['format', ...Object.keys(LOOK_FLAGS)].some((flag) => input.has(flag)) || input.all('json').some(Boolean)
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
