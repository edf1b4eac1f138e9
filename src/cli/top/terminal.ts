import { StringDecoder } from 'node:string_decoder';
import type { Io } from '../frame/io.ts';
import { screen } from '../print/screen.ts';

/** Maps the sequences that terminals send for special keys to their names. */
const KEY_NAMES: Record<string, string> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'ctrl-c',
  '\x0c': 'ctrl-l',
  '\x15': 'ctrl-u',
  '\x1a': 'ctrl-z',
  '\x1b': 'escape',
  '\x1b[Z': 'shift-tab',
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\x1b[C': 'right',
  '\x1b[D': 'left',
  '\x1b[H': 'home',
  '\x1b[F': 'end',
  '\x1b[1~': 'home',
  '\x1b[4~': 'end',
  '\x1b[5~': 'page-up',
  '\x1b[6~': 'page-down',
};

/** Matches an escape sequence (CSI or SS3), or one character. */
const KEY = /\x1b\[[0-9;?]*[@-~]|\x1bO[@-~]|[\s\S]/gu;

/** Returns the keys in the text that a terminal sent: a name, or the character itself. Unknown keys are left out. */
export function readKeys(text: string): string[] {
  const keys: string[] = [];
  for (const [sent] of text.matchAll(KEY)) {
    const name = KEY_NAMES[sent] ?? KEY_NAMES[sent.replace('\x1bO', '\x1b[')];
    if (name !== undefined) keys.push(name);
    else if (!/\p{Cc}/u.test(sent)) keys.push(sent);
  }
  return keys;
}

/** Matches an incomplete sequence at the end of the input, which may also be the Escape key. */
const UNFINISHED_SEQUENCE = /\x1b(\[[0-9;?]*|O)?$/;
/** The rest of a sequence arrives within this time. Otherwise, the user pressed Escape, and does not notice the delay. */
const REST_MS = 30;

/** Reads keys from input that arrives in pieces. A sequence or a character may be split between two pieces. */
export function keyReader(onKey: (key: string) => void): { read(data: Buffer): void; stop(): void } {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  const emit = (text: string): void => {
    for (const key of readKeys(text)) onKey(key);
  };
  const stop = (): void => clearTimeout(timer);
  return {
    read(data) {
      stop();
      const text = held + decoder.write(data);
      held = UNFINISHED_SEQUENCE.exec(text)?.[0] ?? '';
      if (held !== '')
        timer = setTimeout(() => {
          const rest = held;
          held = '';
          emit(rest);
        }, REST_MS);
      emit(text.slice(0, text.length - held.length));
    },
    stop,
  };
}

interface TerminalEvents {
  onKey(key: string): void;
  /** Is called when the size has changed or the process has continued. */
  onRedraw(): void;
  /** Is called when a signal arrives or the terminal is gone. */
  onEnd(signal: NodeJS.Signals): void;
}

/** SIGTSTP takes effect within this time. Without job control, it has no effect, and the screen opens again. */
const STOPPED_MS = 50;

/** Puts the terminal into raw mode and shows only this screen. Every key is passed on at once. */
export function openTerminal(io: Io, events: TerminalEvents) {
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
  /** Restores the terminal and stops this process and its group, like Ctrl-Z. The screen opens again after `fg`. */
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
    close(): void {
      leave();
      for (const [event, listener] of Object.entries(input)) stdin.off(event, listener);
      for (const [event, listener] of Object.entries(signals)) process.off(event, listener);
      keys.stop();
      stdin.pause();
    },
  };
}
