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
  /** Adds a part of an output file. The parts of a file follow each other. The sizes of the parts and the order of the files do not matter. */
  file(part: ExportedFilePart): void;
  digest(): Digest;
}

export function newDigester(): Digester {
  const tables = new Map<string, { rows: number; hash: Hash; columns: string[] }>();
  const files = newFileDigester();
  return {
    row({ table, row }) {
      let sum = tables.get(table);
      if (sum === undefined) {
        // All rows of a table have the same columns.
        sum = { rows: 0, hash: createHash('sha256'), columns: Object.keys(row).sort() };
        tables.set(table, sum);
      }
      sum.rows++;
      sum.hash.update(`${JSON.stringify(sum.columns.map((column) => textOf(row[column])))}\n`);
    },
    file: files.add,
    digest: () => ({
      ...Object.fromEntries(
        [...tables].map(([table, { rows, hash }]) => [table, { rows, checksum: hash.copy().digest('hex') }]),
      ),
      ...files.digest(),
    }),
  };
}

/** Sums up output files. Their checksums are combined by exclusive or, so that their order does not matter. */
function newFileDigester() {
  const combined = Buffer.alloc(32);
  let rows = 0;
  let last: { name: string; hash: Hash } | null = null;
  const endLast = (): void => {
    if (last === null) return;
    for (const [i, byte] of last.hash.digest().entries()) combined[i]! ^= byte;
    last = null;
  };
  return {
    add({ attempt, stream, bytes }: ExportedFilePart): void {
      const name = `${attempt} ${stream}\n`;
      if (last?.name !== name) {
        endLast();
        rows++;
        last = { name, hash: createHash('sha256').update(name) };
      }
      last.hash.update(bytes);
    },
    digest(): Digest {
      endLast();
      return rows === 0 ? {} : { [FILES]: { rows, checksum: combined.toString('hex') } };
    },
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
