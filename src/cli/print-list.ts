import { masked } from '../core/mask.ts';
import type { Io } from './io.ts';
import { type Format, jsonText, type Template } from './layout.ts';
import { type Column, isAligned, plainLine, printTable } from './table.ts';
import { printable } from './text.ts';
import { type TimeFormat, timesFor } from './times.ts';

/** Describes how to print the objects of a list. */
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
  return template
    .map((part) => (typeof part === 'string' ? part : fieldText(object, part.field, times)))
    .join('');
}

function fieldText(object: object, field: string, times: TimeFormat): string {
  const value = (object as Record<string, unknown>)[field] ?? '';
  if (typeof value === 'object') return printable(JSON.stringify(value));
  const text = String(value);
  return TIME_FIELD.test(field) && text !== '' ? times.text(text) : printable(text);
}
