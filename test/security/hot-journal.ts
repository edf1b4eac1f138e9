import { readFileSync, writeFileSync } from 'node:fs';

const PAGE_SIZE_OFFSET = 16;
const SECTOR_BYTES = 512;
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex');

/** Writes the file `journal`, a hot journal that turns any database beside it into `database` when SQLite rolls it back. */
export function writeHotJournal(database: string, journal: string): void {
  const bytes = readFileSync(database);
  const pageSize = bytes.readUInt16BE(PAGE_SIZE_OFFSET);
  const pages = bytes.length / pageSize;
  const header = Buffer.alloc(SECTOR_BYTES);
  JOURNAL_MAGIC.copy(header);
  // The fields are the number of records, the initial checksum, and the sizes of database, sector and page.
  for (const [i, value] of [pages, 0, pages, SECTOR_BYTES, pageSize].entries())
    header.writeUInt32BE(value, 8 + 4 * i);
  const records = Array.from({ length: pages }, (_, i) => {
    const page = bytes.subarray(i * pageSize, (i + 1) * pageSize);
    const record = Buffer.alloc(pageSize + 8);
    record.writeUInt32BE(i + 1, 0);
    page.copy(record, 4);
    record.writeUInt32BE(checksum(page), pageSize + 4);
    return record;
  });
  writeFileSync(journal, Buffer.concat([header, ...records]));
}

/** Returns the checksum that SQLite expects after a page in a journal. */
function checksum(page: Buffer): number {
  let sum = 0;
  for (let at = page.length - 200; at > 0; at -= 200) sum += page[at]!;
  return sum;
}
