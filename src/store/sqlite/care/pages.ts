import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/*
 * These functions read the rows of a damaged database from its pages (sqlite.org/fileformat2.html). Every number in the file is
 * checked before it is used.
 */
export const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;

const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;

export interface PageFile {
  count: number;
  /** Returns the page with this number, or null beyond the end. Numbers start at 1. */
  read(number: number): Buffer | null;
  close(): void;
}

export function openPages(path: string): PageFile {
  const file = openSync(path, 'r');
  const count = Math.floor(fstatSync(file).size / PAGE_BYTES);
  return {
    count,
    read(number) {
      if (!(number >= 1 && number <= count)) return null;
      const page = Buffer.alloc(PAGE_BYTES);
      return readSync(file, page, 0, PAGE_BYTES, (number - 1) * PAGE_BYTES) === PAGE_BYTES ? page : null;
    },
    close: () => closeSync(file),
  };
}

const headerOffset = (number: number): number => (number === 1 ? HEADER_BYTES : 0);

/** Tells whether this page can hold rows of a table with rowids (`hasRowid`), or else of one without. Pages of indexes look like the latter. */
export function holdsRows(page: Buffer, number: number, hasRowid: boolean): boolean {
  const kind = page[headerOffset(number)];
  return hasRowid ? kind === LEAF_TABLE : kind === LEAF_INDEX || kind === INTERIOR_INDEX;
}

/** Returns the offsets of the cells in a page, without those that are impossible. The cell pointers follow the page header. */
export function cellOffsets(page: Buffer, number: number): number[] {
  const start = headerOffset(number);
  const kind = page[start]!;
  if (![INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE].includes(kind)) return [];
  const pointersAt = start + (kind < LEAF_INDEX ? 12 : 8);
  const count = Math.min(page.readUInt16BE(start + 3), (PAGE_BYTES - pointersAt) >> 1);
  const cells: number[] = [];
  for (let i = 0; i < count; i++) {
    const at = page.readUInt16BE(pointersAt + 2 * i);
    if (at >= pointersAt + 2 * count && at < PAGE_BYTES - 3) cells.push(at);
  }
  return cells;
}

/** Returns the numbers of the pages below an interior page, or none for other pages. */
export function childPagesOf(page: Buffer, number: number): number[] {
  const start = headerOffset(number);
  if (page[start] !== INTERIOR_TABLE && page[start] !== INTERIOR_INDEX) return [];
  return [page.readUInt32BE(start + 8), ...cellOffsets(page, number).map((at) => page.readUInt32BE(at))];
}

export interface Cell {
  /** Null in a table WITHOUT ROWID. */
  rowid: number | null;
  /** The bytes of the row that are in this page. */
  local: Buffer;
  /** The number of bytes of the whole row. */
  length: number;
  /** The page on which the row continues, or null. */
  overflow: number | null;
}

/** Reads a cell. Returns null if it is not a row, or does not fit into its page. */
export function cellAt(page: Buffer, number: number, at: number): Cell | null {
  const kind = page[headerOffset(number)]!;
  const size = readVarint(page, kind === INTERIOR_INDEX ? at + 4 : at);
  if (kind === INTERIOR_TABLE || size === null) return null;
  const rowid = kind === LEAF_TABLE ? readVarint(page, size.next) : null;
  if (kind === LEAF_TABLE && rowid === null) return null;
  const length = size.value;
  const from = rowid?.next ?? size.next;
  const localLength = localLengthOf(length, kind === LEAF_TABLE);
  const overflows = localLength < length;
  if (from + localLength + (overflows ? 4 : 0) > PAGE_BYTES) return null;
  return {
    rowid: rowid?.value ?? null,
    local: page.subarray(from, from + localLength),
    length,
    overflow: overflows ? page.readUInt32BE(from + localLength) : null,
  };
}

/** Returns how many bytes of a row of this length are in its own page, as the file format defines. */
function localLengthOf(length: number, hasRowid: boolean): number {
  const most = hasRowid ? PAGE_BYTES - 35 : Math.floor(((PAGE_BYTES - 12) * 64) / 255) - 23;
  if (length <= most) return length;
  const least = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;
  const fitted = least + ((length - least) % (PAGE_BYTES - 4));
  return fitted <= most ? fitted : least;
}

/** Returns a whole row and its overflow pages. Returns null if their chain is broken, or has a page that cannot be this row's (`isUsable`). */
export function readWholeRow(
  pages: PageFile,
  cell: Cell,
  isUsable: (page: number) => boolean,
): { bytes: Buffer; overflowPages: number[] } | null {
  const parts = [cell.local];
  const visited: number[] = [];
  let next = cell.overflow ?? 0;
  for (let missing = cell.length - cell.local.length; missing > 0; ) {
    const page = visited.includes(next) || !isUsable(next) ? null : pages.read(next);
    if (page === null) return null;
    visited.push(next);
    const part = page.subarray(4, 4 + Math.min(missing, PAGE_BYTES - 4));
    parts.push(part);
    missing -= part.length;
    next = page.readUInt32BE(0);
  }
  // The last page of a row has no next page.
  return next === 0 ? { bytes: Buffer.concat(parts), overflowPages: visited } : null;
}

export type Value = string | number | Uint8Array | null;

/** Returns the columns of a row, or null if the bytes are not a row. The lengths must add up exactly. */
export function valuesOf(bytes: Buffer): Value[] | null {
  const header = readVarint(bytes, 0);
  if (header === null || header.value > bytes.length) return null;
  const values: Value[] = [];
  let body = header.value;
  let at = header.next;
  while (at < header.value) {
    const type = readVarint(bytes, at);
    if (type === null || type.next > header.value) return null;
    at = type.next;
    const length = lengthOf(type.value);
    if (length === null || body + length > bytes.length) return null;
    const value = decodeValue(type.value, bytes.subarray(body, body + length));
    if (value === undefined) return null;
    values.push(value);
    body += length;
  }
  return body === bytes.length ? values : null;
}

/** The lengths in bytes of the types below 10. */
const FIXED_LENGTHS = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
const REAL_TYPE = 7;
const ZERO_TYPE = 8;

function lengthOf(type: number): number | null {
  return type < 12 ? (FIXED_LENGTHS[type] ?? null) : Math.floor((type - 12) / 2);
}

/** Decodes a value. Returns undefined for a number that is too large, or a text that is not UTF-8. */
function decodeValue(type: number, bytes: Buffer): Value | undefined {
  if (type === 0) return null;
  if (type === REAL_TYPE) return bytes.readDoubleBE(0);
  if (type === ZERO_TYPE || type === ZERO_TYPE + 1) return type - ZERO_TYPE;
  if (type < REAL_TYPE) {
    const number = bytes.length === 8 ? Number(bytes.readBigInt64BE(0)) : bytes.readIntBE(0, bytes.length);
    return Number.isSafeInteger(number) ? number : undefined;
  }
  if (type % 2 === 0) return new Uint8Array(bytes);
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the numbers of the free pages, or null if the list of free pages is damaged. */
export function freePages(pages: PageFile): Set<number> | null {
  const first = pages.read(1);
  if (first === null) return null;
  const free = new Set<number>();
  const add = (number: number): boolean =>
    number > 1 && number <= pages.count && !free.has(number) && !!free.add(number);
  for (let trunk = first.readUInt32BE(32); trunk !== 0; ) {
    if (!add(trunk)) return null;
    const page = pages.read(trunk)!;
    const count = page.readUInt32BE(4);
    if (count > PAGE_BYTES / 4 - 2) return null;
    for (let i = 0; i < count; i++) if (!add(page.readUInt32BE(8 + 4 * i))) return null;
    trunk = page.readUInt32BE(0);
  }
  return free.size === first.readUInt32BE(36) ? free : null;
}

/** Reads a number of variable length, high bytes first. Returns null if it is cut off or too large. */
function readVarint(bytes: Buffer, at: number): { value: number; next: number } | null {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return null;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return Number.isSafeInteger(value) ? { value, next: at + i + 1 } : null;
  }
  return null;
}
