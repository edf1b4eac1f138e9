import type { Claim, Stream } from '../../core/jobs/job.ts';
import type { Gap } from '../../state/output.ts';

/**
 * Keeps parts of the output of attempts, so that hosts without the output files can read it. A position counts the bytes that the
 * command wrote to a stream before. The parts are removed with their attempt, or when its short output is stored.
 */
export interface SharedOutput {
  /**
   * Adds parts of the output of running attempts, in one transaction. Parts of one stream come in the order of their positions, and
   * a part has no bytes on both sides of the position `keepBytes`. Bytes at positions that were added before are ignored, so the
   * call can be repeated. Then drops parts, so that only the first and the last `keepBytes` of each stream remain, and at most
   * 64 KiB more. Returns the numbers of the attempts whose claims hold. Adds nothing to the others.
   */
  share(parts: OutputPart[], keepBytes: number): Promise<number[]>;
  /** Returns the positions after the last parts of these attempts. Streams without parts are left out. */
  sharedEnds(attempts: number[]): Promise<SharedEnd[]>;
  /** Reads at most `maxBytes` from a position on, up to the next gap. A negative position counts from the end. */
  sharedRange(attempt: number, stream: Stream, from: number, maxBytes: number): Promise<SharedRange>;
}

export interface OutputPart {
  claim: Claim;
  stream: Stream;
  /** The position of the first byte. */
  at: number;
  bytes: Uint8Array;
}

export interface SharedEnd {
  attempt: number;
  stream: Stream;
  end: number;
}

export interface SharedRange {
  /** The position of the first byte. */
  from: number;
  bytes: Uint8Array;
  /** The gap in which `from` is, without bytes to read. Null if it is in none. */
  gap: Gap | null;
  /** The position after the last part, or 0 if there is none. */
  size: number;
}
