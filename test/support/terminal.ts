import { join } from 'node:path';
import { type Running, type Sandbox, until } from './queuectl.ts';

export interface OnTerminal extends Running {
  /** Types Ctrl-C. */
  interrupt(): void;
  /** Types this text, which may contain escape sequences and control characters. */
  type(text: string): void;
  resize(rows: number, columns: number): void;
}

/** Starts a command with stdin, stdout and stderr on a new terminal, optionally `through` another program. */
export function onTerminal(
  box: Sandbox,
  args: string[],
  rows = 24,
  columns = 80,
  options: { through?: string[]; env?: Record<string, string> } = {},
): OnTerminal {
  const script = join(import.meta.dir, 'terminal.py');
  const running = box.start(args, {
    keepStdinOpen: true,
    env: { TERM: 'xterm', FORCE_COLOR: '', NO_COLOR: '1', ...options.env },
    through: ['python3', script, String(rows), String(columns), ...(options.through ?? [])],
  });
  const sendLine = (line: string): void => void running.child.stdin!.write(`${line}\n`);
  return {
    ...running,
    type: (text) =>
      sendLine(
        `key ${Array.from(text, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}`,
      ),
    interrupt: () => sendLine('key \\x03'),
    resize: (high, wide) => sendLine(`size ${high} ${wide}`),
  };
}

/** Types Ctrl-C until the command ends, because simultaneous signals are merged. Returns the exit code. */
export async function interruptUntilClosed(running: OnTerminal): Promise<number> {
  let isClosed = false;
  running.closed.then(() => {
    isClosed = true;
  });
  await until(() => {
    if (!isClosed) running.interrupt();
    return isClosed;
  }, 'Ctrl-C has ended it');
  return running.closed;
}
