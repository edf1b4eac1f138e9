import { type CollectedOutput, collectOutput, LARGEST_STORED_BYTES } from './output.ts';
import { outputPlaceIn, type Place } from './place.ts';

export interface CollectedStreams extends CollectedOutput {
  /** The stderr of split output. Then `kept` is only its stdout. */
  keptStderr?: Uint8Array;
}

/** Reads the output of an ended attempt. Both streams of split output move into the store, or neither. */
export function collectStreams(place: Place, split: boolean, limit: number): CollectedStreams {
  const out = collectOutput(place, limit);
  if (!split) return out;
  const err = collectOutput(outputPlaceIn(place, 'stderr'), limit);
  const bytes = out.bytes + err.bytes;
  const truncated = out.truncated || err.truncated;
  return {
    bytes,
    truncated,
    ...(bytes <= LARGEST_STORED_BYTES
      ? { kept: out.kept ?? NO_BYTES, keptStderr: err.kept ?? NO_BYTES }
      : { kept: null }),
    ...(truncated ? { remainingBytes: remainingIn(out) + remainingIn(err) } : {}),
    // The reason for a failure is usually on stderr.
    tail: err.tail.trim() === '' ? out.tail : err.tail,
  };
}

const remainingIn = (stream: CollectedOutput): number => stream.remainingBytes ?? stream.bytes;
const NO_BYTES = new Uint8Array();
