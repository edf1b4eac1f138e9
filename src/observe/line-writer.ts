import { stat, write, writeSync } from 'node:fs';

/** Lines are dropped beyond this much unwritten text, because a stalled reader of the log must not stop a worker. */
const MOST_WAITING = 1024 * 1024;
const LONGEST_FLUSH_MS = 1000;
/** A background write that takes longer is waiting for its reader or for a thread. */
const STUCK_MS = 1000;

/** Writes lines to a file descriptor, in order and in the background. */
export function lineWriter(fd: number): { line(text: string): void; flushed(): Promise<void> } {
  let waiting = '';
  let busy = false;
  let done: (() => void)[] = [];
  const pump = (): void => {
    if (waiting === '') {
      busy = false;
      for (const resolve of done) resolve();
      done = [];
      return;
    }
    busy = true;
    const chunk = Buffer.from(waiting);
    waiting = '';
    push(chunk);
  };
  const written = (chunk: Buffer, error: NodeJS.ErrnoException | null, bytes: number): void => {
    if (error?.code === 'EAGAIN') setTimeout(push, 10, chunk);
    else if (error === null && bytes < chunk.length) push(chunk.subarray(bytes));
    // If nobody reads any more, the log is lost, but the work is not.
    else pump();
  };
  let hasThreads = true;
  const push = (chunk: Buffer): void => {
    if (hasThreads) pushLater(chunk);
    else pushNow(chunk);
  };
  const pushLater = (chunk: Buffer): void => {
    let over = false;
    const stuck = setTimeout(() => {
      let answered = false;
      stat('/', () => {
        answered = true;
        hasThreads = true;
      });
      setTimeout(() => {
        // Another thread has answered, so this write only waits for its reader.
        if (over || answered) return;
        over = true;
        hasThreads = false;
        pushNow(chunk);
      }, STUCK_MS).unref();
    }, STUCK_MS).unref();
    write(fd, chunk, 0, chunk.length, null, (error, bytes) => {
      clearTimeout(stuck);
      if (over) return;
      over = true;
      written(chunk, error, bytes);
    });
  };
  /** Writes synchronously. A process limit (ulimit -u, pids.max) may leave no thread, and the log has to report that. */
  const pushNow = (chunk: Buffer): void => {
    let bytes = 0;
    let failed: NodeJS.ErrnoException | null = null;
    try {
      bytes = writeSync(fd, chunk);
    } catch (error) {
      failed = error as NodeJS.ErrnoException;
    }
    written(chunk, failed, bytes);
  };
  return {
    line(text) {
      if (waiting.length < MOST_WAITING) waiting += `${text}\n`;
      if (!busy) {
        busy = true;
        setImmediate(pump);
      }
    },
    // The wait is limited, because without a thread (ulimit -u) the remaining text is never written.
    flushed: () =>
      new Promise((resolve) => {
        if (!busy) return resolve();
        done.push(resolve);
        setTimeout(resolve, LONGEST_FLUSH_MS);
      }),
  };
}
