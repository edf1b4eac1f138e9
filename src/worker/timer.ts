/** Longer delays than this fire at once in every JavaScript runtime. */
const LONGEST_MS = 2 ** 31 - 1;

/** A timer of any length. Answers how to cancel it. Alone it keeps no process alive. */
export function longTimeout(callback: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    timer = setTimeout(
      () => (left > LONGEST_MS ? arm(left - LONGEST_MS) : callback()),
      Math.min(left, LONGEST_MS),
    );
    timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
}

/** Runs `once` again and again, never two at a time, with the delay asked for anew each time. */
export function loop(once: () => Promise<void>, delayMs: () => number): { stop(): void; now(): void } {
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let again = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    if (stopped) return;
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    clearTimeout(timer);
    do {
      again = false;
      await once();
    } while (again && !stopped);
    busy = false;
    if (!stopped) timer = setTimeout(run, delayMs());
  };
  timer = setTimeout(run, delayMs());
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    now: () => void run(),
  };
}

/** Runs what it is given one after the other. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
