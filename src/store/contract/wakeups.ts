/**
 * Tells the processes of a queue about changes, so that they do not wait for their next poll. A signal may get lost, so every
 * process that waits also polls.
 *
 * A store may send a signal a moment later and combine several signals into one. What was sent before `close` of the store is
 * not dropped by it. Callbacks do not need the open store: they are called until the returned function is called.
 */
export interface Wakeups {
  /** Wakes the workers, and reports a change. */
  wake(): void;
  /** Wakes the processes that wait for jobs to end, or that follow jobs or events. */
  tellChange(): void;
  /**
   * Calls `callback` at every wake-up. It may also be called without one, for example while the connection to a server is lost.
   * Returns a function that ends this, or null if wake-ups cannot be received. The caller then polls more often.
   */
  onWake(callback: () => void): (() => void) | null;
  /** Whether it costs little to end `onWake` and to call it again. A process that will look later anyway then needs no wake-ups meanwhile. */
  readonly reopensCheaply: boolean;
  /** Calls `callback` when something has changed. Returns the same as `onWake`. */
  onChange(callback: () => void): (() => void) | null;
}
