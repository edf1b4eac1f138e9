import { createHash, type Hash } from 'node:crypto';
import type { ExportedFilePart, ExportedRow } from '../store/contract/care.ts';

/** The number of rows, or of files, and a checksum of their contents. */
interface Sum {
  rows: number;
  checksum: string;
}

/** The sums of a queue by table. The output files have a sum of their own. */
export type Digest = Record<string, Sum>;

/** The key of the sum of the output files. */
const FILES = 'output file';

/** Sums up a queue. Two queues with the same rows in the same order have the same digest, whatever the order of their columns. */
interface Digester {
  row(row: ExportedRow): void;
  /** Adds a part of an output file. The sizes of the parts do not matter. */
  file(part: ExportedFilePart): void;
  digest(): Digest;
}

export function newDigester(): Digester {
  const sums = new Map<string, { rows: number; hash: Hash; columns: string[] }>();
  let lastFile = '';
  const sumOf = (table: string, columns: () => string[]) => {
    let sum = sums.get(table);
    if (sum === undefined) {
      sum = { rows: 0, hash: createHash('sha256'), columns: columns() };
      sums.set(table, sum);
    }
    return sum;
  };
  return {
    row({ table, row }) {
      // All rows of a table have the same columns.
      const sum = sumOf(table, () => Object.keys(row).sort());
      sum.rows++;
      sum.hash.update(`${JSON.stringify(sum.columns.map((column) => textOf(row[column])))}\n`);
    },
    file({ attempt, stream, bytes }) {
      const sum = sumOf(FILES, () => []);
      const file = `${attempt} ${stream}`;
      if (file !== lastFile) {
        sum.rows++;
        sum.hash.update(`${file}\n`);
      }
      lastFile = file;
      sum.hash.update(bytes);
    },
    digest: () =>
      Object.fromEntries(
        [...sums].map(([table, { rows, hash }]) => [table, { rows, checksum: hash.copy().digest('hex') }]),
      ),
  };
}

function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : (value ?? null);
}

/** Returns how the copy differs from the original, or null if both are the same. */
export function differenceOf(original: Digest, copy: Digest): string | null {
  for (const table of new Set([...Object.keys(original), ...Object.keys(copy)])) {
    const [expected, found] = [original[table]?.rows ?? 0, copy[table]?.rows ?? 0];
    if (expected !== found) return `${table}: ${expected} expected, ${found} found`;
    if (original[table]?.checksum !== copy[table]?.checksum) return `${table}: the checksums differ`;
  }
  return null;
}
