import { stat, write, writeSync } from 'node:fs';

/** Lines are dropped beyond this many unwritten characters, because a stalled reader of the log must not stop a worker. */
const MAX_UNWRITTEN_LENGTH = 1024 * 1024;
const MAX_FLUSH_MS = 1000;
/** A background write that takes longer than this is waiting for its reader or for a thread. A `stat` shows which. */
const STUCK_MS = 1000;

/** Writes lines to a file descriptor, in order and in the background. `flushed` resolves when they are written, or after MAX_FLUSH_MS. */
export function lineWriter(fd: number): { line(text: string): void; flushed(): Promise<void> } {
  let unwritten = '';
  let isWriting = false;
  let onFlushed: (() => void)[] = [];
  const writeNext = (): void => {
    if (unwritten === '') {
      isWriting = false;
      for (const resolve of onFlushed) resolve();
      onFlushed = [];
      return;
    }
    isWriting = true;
    const chunk = Buffer.from(unwritten);
    unwritten = '';
    writeChunk(chunk);
  };
  const afterWrite = (chunk: Buffer, error: NodeJS.ErrnoException | null, bytes: number): void => {
    if (error?.code === 'EAGAIN') setTimeout(writeChunk, 10, chunk);
    else if (error === null && bytes < chunk.length) writeChunk(chunk.subarray(bytes));
    // After any other error, the text is dropped: a worker continues without its log.
    else writeNext();
  };
  let hasThreads = true;
  const writeChunk = (chunk: Buffer): void => {
    if (hasThreads) writeInBackground(chunk);
    else writeNow(chunk);
  };
  const writeInBackground = (chunk: Buffer): void => {
    let settled = false;
    const stuckTimer = setTimeout(() => {
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
      clearTimeout(stuckTimer);
      if (settled) return;
      settled = true;
      afterWrite(chunk, error, bytes);
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
    afterWrite(chunk, failed, bytes);
  };
  return {
    line(text) {
      if (unwritten.length < MAX_UNWRITTEN_LENGTH) unwritten += `${text}\n`;
      if (!isWriting) {
        isWriting = true;
        setImmediate(writeNext);
      }
    },
    // Without a thread or a reader, the remaining text is never written.
    flushed: () =>
      new Promise((resolve) => {
        if (!isWriting) return resolve();
        onFlushed.push(resolve);
        setTimeout(resolve, MAX_FLUSH_MS);
      }),
  };
}
