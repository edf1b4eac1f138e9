import { type Collected, collectOutput, KEPT_IN_STORE } from './output.ts';
import { outputIn, type Place } from './place.ts';

export interface CollectedStreams extends Collected {
  /** The stderr of split output; `kept` is its stdout then. */
  keptStderr?: Uint8Array;
}

/** Reads what an ended attempt wrote. Both streams of split output move into the store, or neither. */
export function collectStreams(place: Place, split: boolean, limit: number): CollectedStreams {
  const out = collectOutput(place, limit);
  if (!split) return out;
  const err = collectOutput(outputIn(place.directory, 'stderr'), limit);
  const bytes = out.bytes + err.bytes;
  const truncated = out.truncated || err.truncated;
  return {
    bytes,
    truncated,
    ...(bytes <= KEPT_IN_STORE
      ? { kept: out.kept ?? NOTHING, keptStderr: err.kept ?? NOTHING }
      : { kept: null }),
    ...(truncated ? { stored: (out.stored ?? out.bytes) + (err.stored ?? err.bytes) } : {}),
    // The reason of a failure is usually on stderr.
    tail: err.tail.trim() === '' ? out.tail : err.tail,
  };
}

const NOTHING = new Uint8Array();
