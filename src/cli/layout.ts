import type { Flag, Input } from './command.ts';

/** How a list is printed; a template names fields of the objects in it. */
export type Format = 'table' | 'tsv' | 'csv' | 'json' | 'jsonl' | 'ids' | Template;
/** Text as it is, and fields. */
export type Template = (string | { field: string })[];
export type TimeStyle = 'iso' | 'relative' | 'local' | 'unix';

/** What was said about the looks of the result; null where the usual is meant. */
export interface Layout {
  format: Format | null;
  /** Of the JSON objects only these fields. */
  fields: string[] | null;
  time: TimeStyle | null;
  utc: boolean;
  header: boolean;
  /** Nothing is cut or left out to fit the terminal. */
  wide: boolean;
}

export const USUAL: Layout = {
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
    help: `table, tsv, csv, json, jsonl, ids, or a template such as '${template}'`,
  };
  return { format, ...LOOK_FLAGS };
}

const LOOK_FLAGS: Record<string, Flag> = {
  ...TIME_FLAGS,
  header: { help: 'print the column titles in the first line (tsv and csv)' },
  wide: { help: 'do not shorten or leave out columns to fit the terminal' },
  'no-trunc': { hidden: true, help: 'same as --wide' },
};

/** Whether reading the layout is worth loading what reads it. */
export function saysLayout(input: Input): boolean {
  return (
    ['format', ...Object.keys(LOOK_FLAGS)].some((flag) => input.has(flag)) || input.all('json').some(Boolean)
  );
}

/** The one way an object becomes JSON text for the user: whole, or the fields that were asked for, null where there is none. */
export function jsonText(io: { layout: Layout }, object: object): string {
  const { fields } = io.layout;
  if (fields === null) return JSON.stringify(object);
  return JSON.stringify(
    Object.fromEntries(fields.map((field) => [field, (object as Record<string, unknown>)[field] ?? null])),
  );
}
