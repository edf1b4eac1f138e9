import { write } from 'node:fs';

/** A stalled reader of the log must not stop a worker: beyond this much unwritten text, lines are dropped. */
const MOST_WAITING = 1024 * 1024;

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
    flushed: () => (busy ? new Promise((resolve) => done.push(resolve)) : Promise.resolve()),
  };
}
