import { stat, write, writeSync } from 'node:fs';

/** Lines are dropped beyond this many unwritten characters, because a stalled reader of the log must not stop a worker. */
const MAX_WAITING = 1024 * 1024;
const MAX_FLUSH_MS = 1000;
/** A background write that takes longer than this is waiting for its reader or for a thread. */
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
    // After any other error, the text is dropped: a worker continues without its log.
    else pump();
  };
  let hasThreads = true;
  const push = (chunk: Buffer): void => {
    if (hasThreads) writeInBackground(chunk);
    else writeNow(chunk);
  };
  const writeInBackground = (chunk: Buffer): void => {
    let settled = false;
    const stuck = setTimeout(() => {
      let answered = false;
      stat('/', () => {
        answered = true;
        hasThreads = true;
      });
      setTimeout(() => {
        // Another thread has answered, so this write only waits for its reader.
        if (settled || answered) return;
        settled = true;
        hasThreads = false;
        writeNow(chunk);
      }, STUCK_MS).unref();
    }, STUCK_MS).unref();
    write(fd, chunk, 0, chunk.length, null, (error, bytes) => {
      clearTimeout(stuck);
      if (settled) return;
      settled = true;
      written(chunk, error, bytes);
    });
  };
  /** Writes synchronously. A process limit (ulimit -u, pids.max) may allow no thread, and the log has to report that. */
  const writeNow = (chunk: Buffer): void => {
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
      if (waiting.length < MAX_WAITING) waiting += `${text}\n`;
      if (!busy) {
        busy = true;
        setImmediate(pump);
      }
    },
    // The wait is limited, because without a thread or a reader the remaining text is never written.
    flushed: () =>
      new Promise((resolve) => {
        if (!busy) return resolve();
        done.push(resolve);
        setTimeout(resolve, MAX_FLUSH_MS);
      }),
  };
}
