import type { App } from '../../actions/app.ts';
import { masked } from '../../core/text/mask.ts';
import { formatRelative } from '../../core/time/duration.ts';
import { toIso } from '../../core/time/time.ts';
import type { Context, Flag } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { type Format, jsonText, type Template, type TimeStyle } from './layout.ts';
import { type Column, isAligned, plainLine, printTable } from './table.ts';
import { printable } from './text.ts';

export interface Listing<Row> {
  columns(times: TimeFormat): Column<Row>[];
  id(row: Row): string;
  /** Returns the JSON object of a row. The default is the row itself. */
  object?(row: Row): object | Promise<object>;
}

/** A longer list is printed as several tables, each with at most this many rows. */
const TABLE_ROWS = 500;
/** Collected text is printed when it is longer than this many characters. */
const MAX_PENDING_TEXT = 256 * 1024;

/** Prints a list in the chosen format and returns the number of rows. The memory it needs does not grow with that number. */
export async function printList<Row extends object>(
  io: Io,
  list: Listing<Row>,
  rows: Iterable<Row> | AsyncIterable<Row>,
  now: number,
): Promise<number> {
  const format = formatOf(io);
  const columns = list.columns(timesFor(io, now));
  let count = 0;
  if (format === 'table') {
    const print = (batch: Row[]): number => {
      printTable(io, columns, batch);
      return batch.length;
    };
    let batch: Row[] = [];
    for await (const row of rows) {
      if (batch.push(row) < TABLE_ROWS) continue;
      count += print(batch);
      batch = [];
    }
    return count + print(batch);
  }
  const isArray = format === 'json';
  let text = isArray ? '[' : headerLine(io, columns);
  const lineOf = lineFormatter(io, list, now);
  for await (const row of rows) {
    const line = await lineOf(row);
    text += isArray ? `${count === 0 ? '' : ','}${line}` : `${line}\n`;
    count++;
    if (text.length < MAX_PENDING_TEXT) continue;
    io.out(text);
    text = '';
  }
  io.out(isArray ? `${text}]\n` : text);
  return count;
}

/** Returns the function of a command that lists everything of one kind. `emptyNote` is printed if there is nothing. */
export function listAll<Row extends object>(
  list: Listing<Row>,
  read: (app: App) => Promise<Row[]>,
  emptyNote?: string,
) {
  return async ({ io, app }: Context): Promise<undefined> => {
    const opened = await app();
    const count = await printList(io, list, await read(opened), opened.clock.now());
    if (count === 0 && emptyNote !== undefined) io.note(emptyNote);
  };
}

/** Returns a function that formats one object of a list as a line. With the format `table`, tabs separate its cells. */
export function lineFormatter<Row extends object>(io: Io, list: Listing<Row>, now: number) {
  const format = formatOf(io);
  const times = timesFor(io, now);
  const columns = list.columns(times);
  const { id, object = (row: Row) => row } = list;
  return async (row: Row): Promise<string> => {
    if (typeof format === 'object') return fillTemplate(format, masked(await object(row)), times);
    if (format === 'json' || format === 'jsonl') return jsonText(io, await object(row));
    return format === 'ids' ? id(row) : plainLine(io, columns, row);
  };
}

/** Returns the line of column titles for --header. Empty for an aligned table, which has its own titles. */
export function headerLine<Row>(io: Io, columns: Column<Row>[]): string {
  return io.layout.header && !isAligned(io) ? `${plainLine(io, columns, null)}\n` : '';
}

function formatOf(io: Io): Format {
  if (io.layout.format !== null) return io.layout.format;
  if (io.json) return 'json';
  if (io.quiet) return 'ids';
  return isAligned(io) ? 'table' : 'tsv';
}

/** Matches the names of fields that hold a time. */
const TIME_FIELD = /(^|_)at$|^last_heartbeat$/;

function fillTemplate(template: Template, object: object, times: TimeFormat): string {
  const textOf = (field: string): string => {
    const value = (object as Record<string, unknown>)[field] ?? '';
    if (typeof value === 'object') return printable(JSON.stringify(value));
    const text = String(value);
    return TIME_FIELD.test(field) && text !== '' ? times.text(text) : printable(text);
  };
  return template.map((part) => (typeof part === 'string' ? part : textOf(part.field))).join('');
}

/** Formats times, given in milliseconds or in ISO 8601. A missing time becomes an empty text. */
export interface TimeFormat {
  now: number;
  text(at: number | string | null): string;
}

/** Returns the time format: that of --time and --utc, else relative in a table and ISO elsewhere. */
export function timesFor(io: Io, now: number): TimeFormat {
  const { time, utc } = io.layout;
  const style = time ?? (utc ? 'local' : isAligned(io) ? 'relative' : 'iso');
  return timeFormat(now, (at) => timeText(at, style, utc, now));
}

/** Returns the time format of a detail view, which has room for both the time and its distance from now. */
export function fullTimesFor(io: Io, now: number): TimeFormat {
  if (io.layout.time !== null || io.layout.utc) return timesFor(io, now);
  return timeFormat(now, (at) => `${toIso(at)} (${formatRelative(at, now)})`);
}

function timeFormat(now: number, text: (at: number) => string): TimeFormat {
  return { now, text: (at) => (at === null ? '' : text(typeof at === 'string' ? Date.parse(at) : at)) };
}

function timeText(at: number, style: TimeStyle, utc: boolean, now: number): string {
  if (style === 'relative') return formatRelative(at, now);
  if (style === 'unix') return String(at / 1000);
  if (style === 'iso') return toIso(at);
  const shift = utc ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  const text = toIso(at - shift)
    .slice(0, 19)
    .replace('T', ' ');
  return utc ? `${text}Z` : text;
}

export const TIME_FLAGS: Record<string, Flag> = {
  time: {
    value: 'iso|relative|local|unix',
    help: 'how to show times (default: relative in tables, iso elsewhere)',
  },
  utc: { help: 'show dates and times in UTC' },
};

/** Returns the flags of a command that prints a list. `template` is an example for the help. */
export function listFlags(template: string): Record<string, Flag> {
  return {
    format: {
      value: 'FORMAT',
      help: `output format: table, tsv, csv, json, jsonl, ids, or a template such as '${template}'`,
    },
    ...TIME_FLAGS,
    header: { help: 'print column titles in the first line (only for tsv and csv)' },
    wide: { help: 'show all columns in full, even if they do not fit the terminal' },
  };
}
