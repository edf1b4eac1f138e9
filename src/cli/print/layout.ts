import type { Io } from '../frame/io.ts';

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

/** Returns an object as JSON text, with all fields or the selected ones. A missing field becomes null. */
export function jsonText(io: { layout: Layout }, object: object): string {
  const { fields } = io.layout;
  if (fields === null) return JSON.stringify(object);
  return JSON.stringify(
    Object.fromEntries(fields.map((field) => [field, (object as Record<string, unknown>)[field] ?? null])),
  );
}

/** Prints an object as a line of JSON. */
export function printJson(io: Io, object: object): undefined {
  io.out(`${jsonText(io, object)}\n`);
}

/** Prints the result of a command: an object with --json, a sentence on a terminal, else one value for scripts. */
export function printResult(io: Io, object: object, sentence: string, value: string | number): void {
  if (io.json) printJson(io, object);
  else io.out(`${io.tty && !io.quiet ? sentence : value}\n`);
}
