import type { Clock } from '../../../core/time/clock.ts';

/** Two clocks are assumed to drift apart by at most this fraction. */
const DRIFT = 0.001;

/** The clock of a server. It goes on by the monotonic clock of this host between two readings. */
export interface ServerClock extends Clock {
  /** Learns the time of the server, which was read between two times of the monotonic clock. */
  learn(serverMs: number, sentAt: number, receivedAt: number): void;
}

/** Returns a clock that shows the time of the host until it gets the time of the server. */
export function serverClock(host: Clock): ServerClock {
  let offset = host.now() - host.monotonic();
  let errorMs = Number.POSITIVE_INFINITY;
  let learntAt = host.monotonic();
  return {
    now: () => Math.floor(host.monotonic() + offset),
    monotonic: host.monotonic,
    learn(serverMs, sentAt, receivedAt) {
      const given = { offset: serverMs - (sentAt + receivedAt) / 2, errorMs: (receivedAt - sentAt) / 2 };
      const knownErrorMs = errorMs + (receivedAt - learntAt) * DRIFT;
      // Both cannot be right if they differ by more. Then one of the clocks was set, or this host was suspended.
      const isContradiction = Math.abs(given.offset - offset) > given.errorMs + knownErrorMs;
      if (given.errorMs > knownErrorMs && !isContradiction) return;
      ({ offset, errorMs } = given);
      learntAt = receivedAt;
    },
  };
}
