import type { Stream } from '../../core/jobs/job.ts';
import { gapMark, startOffset } from '../../state/output.ts';
import type { ExportedFilePart } from '../contract/care.ts';
import type { OutputPart, SharedEnd, SharedOutput, SharedRange } from '../contract/shared-output.ts';
import type { ServerConnection } from './connection/connection.ts';
import type { Transaction } from './connection/transaction.ts';
import * as sql from './sql/shared-output.ts';

export function sharedOutput(db: ServerConnection): SharedOutput {
  return {
    share: (parts, keepBytes) => db.write('share', (tx) => share(tx, parts, keepBytes)),
    sharedEnds: (attempts) => db.read((tx) => tx.all<SharedEnd>(sql.endsOf, attempts)),
    sharedRange: (attempt, stream, from, maxBytes) =>
      db.read((tx) => readRange(tx, attempt, stream, from, maxBytes)),
  };
}

async function share(tx: Transaction, parts: OutputPart[], keepBytes: number): Promise<number[]> {
  const tokens = new Map(parts.map(({ claim }) => [claim.attempt, claim.token]));
  const claims = [[...tokens.keys()], [...tokens.values()]] as const;
  const [held] = await Promise.all([
    tx.all<{ number: number }>(sql.lockHeld, ...claims),
    tx.run(
      sql.addParts,
      ...claims,
      ...[parts.map(({ claim }) => claim.attempt), parts.map(({ stream }) => stream)],
      ...[parts.map(({ at }) => at), parts.map(({ bytes }) => bytes), keepBytes],
    ),
    tx.run(sql.dropParts, ...claims, keepBytes),
    tx.run(sql.countParts, ...claims),
  ]);
  return held.map(({ number }) => number);
}

/** The position and the size of a part. */
interface PartExtent {
  at: number;
  size: number;
}

const NO_BYTES = new Uint8Array();
const endOf = ({ at, size }: PartExtent): number => at + size;

async function readRange(
  tx: Transaction,
  attempt: number,
  stream: Stream,
  from: number,
  maxBytes: number,
): Promise<SharedRange> {
  const layout = await tx.all<PartExtent>(sql.layoutOf, attempt, stream);
  const size = layout.length === 0 ? 0 : endOf(layout.at(-1)!);
  const start = startOffset(from, size);
  const first = layout.findIndex((part) => endOf(part) > start);
  if (first === -1) return { from: start, bytes: NO_BYTES, gap: null, size };
  const { at } = layout[first]!;
  if (at > start) {
    const gap = { from: first === 0 ? 0 : endOf(layout[first - 1]!), to: at };
    return { from: start, bytes: NO_BYTES, gap, size };
  }
  const last = lastWanted(layout, first, start + maxBytes);
  const rows = await tx.all<{ bytes: Uint8Array }>(sql.partsBetween, attempt, stream, at, last.at);
  const bytes = Buffer.concat(rows.map((row) => row.bytes)).subarray(start - at, start - at + maxBytes);
  return { from: start, bytes, gap: null, size };
}

/** Returns the last part that is needed to read up to `end`, or up to the next gap. */
function lastWanted(layout: PartExtent[], first: number, end: number): PartExtent {
  let last = layout[first]!;
  for (const next of layout.slice(first + 1)) {
    if (next.at >= end || next.at !== endOf(last)) break;
    last = next;
  }
  return last;
}

/** Passes on the shared output of ended attempts. Reads that of one attempt at a time, because parts are large. */
export async function eachSharedPart(tx: Transaction, keep: (part: ExportedFilePart) => void): Promise<void> {
  for await (const row of tx.each(sql.attemptsWithParts)) {
    const attempt = Number(row.number);
    let before = { stream: '', end: 0 };
    for (const part of await tx.all<ExportedFilePart & { at: number }>(sql.partsOfAttempt, attempt)) {
      const { stream, at, bytes } = part;
      const from = before.stream === stream ? before.end : 0;
      if (at > from) keep({ attempt, stream, bytes: gapMark({ from, to: at }) });
      keep({ attempt, stream, bytes });
      before = { stream, end: at + bytes.length };
    }
  }
}
