import type { Io } from '../io.ts';
import { type Screen, screen } from '../screen.ts';
import { keyReader } from './keys.ts';

/** A terminal in raw mode: it sends every key at once and shows only this screen. */
export interface Terminal {
  readonly canvas: Screen;
  /** Restores the terminal, stops this process and its group like Ctrl-Z, and takes the terminal back later. */
  suspend(): void;
  close(): void;
}

export interface TerminalEvents {
  key(key: string): void;
  /** Is called when the size has changed or the process has continued. */
  anew(): void;
  /** Is called when a signal arrives or the terminal is gone. */
  gone(signal: NodeJS.Signals): void;
}

const ENDS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The stop arrives within this time. A process without a shell is not stopped and just continues. */
const STOPPED_MS = 50;

export function openTerminal(io: Io, events: TerminalEvents): Terminal {
  const { stdin } = process;
  const canvas = screen(io);
  let open = false;
  const take = (): void => {
    if (open) return;
    open = true;
    stdin.setRawMode(true);
    canvas.open();
  };
  const give = (): void => {
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
    give();
    process.off('SIGTSTP', suspend);
    process.kill(0, 'SIGTSTP');
    setTimeout(continued, STOPPED_MS);
  };
  const continued = (): void => {
    process.off('SIGTSTP', suspend);
    process.on('SIGTSTP', suspend);
    take();
    // Another program may have changed the terminal modes meanwhile.
    stdin.setRawMode(true);
    events.anew();
  };
  const resized = (): void => events.anew();
  const keys = keyReader(events.key);
  const lost = (): void => events.gone('SIGHUP');

  take();
  stdin.on('data', keys.read);
  for (const end of ['end', 'error']) stdin.on(end, lost);
  for (const signal of ENDS) process.on(signal, events.gone);
  process.on('SIGTSTP', suspend);
  process.on('SIGCONT', continued);
  process.on('SIGWINCH', resized);
  // The terminal is restored however this process ends.
  process.on('exit', give);

  return {
    canvas,
    suspend,
    close() {
      give();
      stdin.off('data', keys.read);
      keys.stop();
      for (const end of ['end', 'error']) stdin.off(end, lost);
      stdin.pause();
      for (const signal of ENDS) process.off(signal, events.gone);
      process.off('SIGTSTP', suspend);
      process.off('SIGCONT', continued);
      process.off('SIGWINCH', resized);
      process.off('exit', give);
    },
  };
}
