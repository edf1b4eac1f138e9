import { join } from 'node:path';
import { type Running, type Sandbox, until } from './queuectl.ts';

export interface OnTerminal extends Running {
  /** Types Ctrl-C. */
  interrupt(): void;
  /** Types this, escape sequences and control characters included. */
  type(text: string): void;
  resize(rows: number, columns: number): void;
}

/** Starts a command on a terminal of its own, stdin, stdout and stderr alike; `through` a shell on it, perhaps. */
export function onTerminal(
  box: Sandbox,
  args: string[],
  rows = 24,
  columns = 80,
  more: { through?: string[]; env?: Record<string, string> } = {},
): OnTerminal {
  const script = join(import.meta.dir, 'terminal.py');
  const running = box.start(args, {
    open: true,
    env: { TERM: 'xterm', FORCE_COLOR: '', NO_COLOR: '1', ...more.env },
    through: ['python3', script, String(rows), String(columns), ...(more.through ?? [])],
  });
  const order = (line: string): void => void running.child.stdin!.write(`${line}\n`);
  return {
    ...running,
    type: (text) =>
      order(
        `key ${Array.from(text, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}`,
      ),
    interrupt: () => order('key \\x03'),
    resize: (high, wide) => order(`size ${high} ${wide}`),
  };
}

/** Ctrl-C again and again: two that come together are one to the system. Answers the exit code. */
export async function interruptUntilOver(running: OnTerminal): Promise<number> {
  let over = false;
  running.closed.then(() => {
    over = true;
  });
  await until(() => {
    if (!over) running.interrupt();
    return over;
  }, 'Ctrl-C has ended it');
  return running.closed;
}
