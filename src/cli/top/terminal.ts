import type { Io } from '../io.ts';
import { type Screen, screen } from '../screen.ts';
import { keyReader } from './keys.ts';

/** A terminal in raw mode. It passes on every key at once and shows only this screen. */
export interface Terminal {
  readonly canvas: Screen;
  /** Restores the terminal and stops this process and its group, like Ctrl-Z. The screen opens again after `fg`. */
  suspend(): void;
  close(): void;
}

export interface TerminalEvents {
  onKey(key: string): void;
  /** Is called when the size has changed or the process has continued. */
  onRedraw(): void;
  /** Is called when a signal arrives or the terminal is gone. */
  onEnd(signal: NodeJS.Signals): void;
}

/** SIGTSTP takes effect within this time. Without job control, it has no effect, and the screen opens again. */
const STOPPED_MS = 50;

export function openTerminal(io: Io, events: TerminalEvents): Terminal {
  const { stdin } = process;
  const canvas = screen(io);
  let open = false;
  const enter = (): void => {
    if (open) return;
    open = true;
    stdin.setRawMode(true);
    canvas.open();
  };
  const leave = (): void => {
    if (!open) return;
    open = false;
    try {
      canvas.close();
      stdin.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
  };
  const suspend = (): void => {
    leave();
    process.off('SIGTSTP', suspend);
    process.kill(0, 'SIGTSTP');
    setTimeout(continued, STOPPED_MS);
  };
  const continued = (): void => {
    process.off('SIGTSTP', suspend);
    process.on('SIGTSTP', suspend);
    enter();
    // Another program may have changed the terminal modes meanwhile.
    stdin.setRawMode(true);
    events.onRedraw();
  };
  const keys = keyReader(events.onKey);
  const lost = (): void => events.onEnd('SIGHUP');
  const input = { data: keys.read, end: lost, error: lost };
  const signals = {
    SIGINT: events.onEnd,
    SIGTERM: events.onEnd,
    SIGHUP: events.onEnd,
    SIGTSTP: suspend,
    SIGCONT: continued,
    SIGWINCH: events.onRedraw,
    // The terminal is also restored after an unexpected error.
    exit: leave,
  };

  enter();
  for (const [event, listener] of Object.entries(input)) stdin.on(event, listener);
  for (const [event, listener] of Object.entries(signals)) process.on(event, listener);

  return {
    canvas,
    suspend,
    close() {
      leave();
      for (const [event, listener] of Object.entries(input)) stdin.off(event, listener);
      for (const [event, listener] of Object.entries(signals)) process.off(event, listener);
      keys.stop();
      stdin.pause();
    },
  };
}
