import { CHANGE_EVERY_MS, WAKE_EVERY_MS } from './sql/wakeups.ts';

/** A wake-up is a change, too. */
export type SignalKind = 'wake' | 'change';

/** The end of a process waits for its last signal for at most this long. */
const FLUSH_LIMIT_MS = 2000;

export interface SignalSender {
  /** Sends a signal soon. Several become one. */
  request(kind: SignalKind): void;
  /** Sends what was requested now, and waits until it is sent. */
  flush(): Promise<void>;
}

/** Creates a sender that calls `send` at most once at a time, and not more often than another process would be told. */
export function createSender(send: (kind: SignalKind) => Promise<void>): SignalSender {
  let requested: SignalKind | null = null;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;
  let lastAt = Number.NEGATIVE_INFINITY;

  const sendNow = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (requested === null || sending !== null) return;
    const kind = requested;
    requested = null;
    lastAt = performance.now();
    // If this fails, other processes find the change when they poll.
    sending = send(kind)
      .catch(() => {})
      .finally(() => {
        sending = null;
        plan();
      });
  };
  const plan = (): void => {
    if (requested === null || sending !== null || timer !== null) return;
    const everyMs = requested === 'wake' ? WAKE_EVERY_MS : CHANGE_EVERY_MS;
    const waitMs = lastAt + everyMs - performance.now();
    if (waitMs <= 0) sendNow();
    else timer = setTimeout(sendNow, waitMs).unref();
  };
  const sendAll = async (): Promise<void> => {
    while (requested !== null || sending !== null) {
      sendNow();
      await sending;
    }
  };
  return {
    request(kind) {
      if (requested === 'wake') return;
      // A wake-up does not wait as long as a change.
      if (kind !== requested && timer !== null) {
        clearTimeout(timer);
        timer = null;
      }
      requested = kind;
      plan();
    },
    async flush() {
      if (requested === null && sending === null) return;
      let limit: NodeJS.Timeout | undefined;
      const expired = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, FLUSH_LIMIT_MS);
      });
      await Promise.race([sendAll(), expired]);
      clearTimeout(limit);
    },
  };
}
