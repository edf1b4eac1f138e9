import { write } from 'node:fs';

/** A stalled reader of the log must not stop a worker: beyond this much unwritten text, lines are dropped. */
const MOST_WAITING = 1024 * 1024;
const LONGEST_FLUSH_MS = 1000;

/** Writes lines to a file descriptor in order and in the background. */
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
  const push = (chunk: Buffer): void => {
    write(fd, chunk, 0, chunk.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(push, 10, chunk);
      // Nobody reads any more: the log is lost, the work is not.
      if (error === null && written < chunk.length) return push(chunk.subarray(written));
      pump();
    });
  };
  return {
    line(text) {
      if (waiting.length < MOST_WAITING) waiting += `${text}\n`;
      if (!busy) {
        busy = true;
        setImmediate(pump);
      }
    },
    // Bounded: where no thread is to be had (ulimit -u), what waits will never be written.
    flushed: () =>
      new Promise((resolve) => {
        if (!busy) return resolve();
        done.push(resolve);
        setTimeout(resolve, LONGEST_FLUSH_MS);
      }),
  };
}
