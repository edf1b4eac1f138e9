import { invalidValue } from './errors.ts';

/** The signals in the order of their numbers on Linux. */
const SIGNAL_NAMES =
  `SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM
  SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO
  SIGPWR SIGSYS`.split(/\s+/);

export function signalName(number: number): string | null {
  return SIGNAL_NAMES[number - 1] ?? null;
}

/** Returns the number of a signal, or 0 for an unknown name. */
export function signalNumber(name: string): number {
  return SIGNAL_NAMES.indexOf(name) + 1;
}

/** The signals with which a user can end a job. */
export const END_SIGNALS = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGABRT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGKILL',
] as const;

/** The signals that a user can send to a job, also to suspend and to continue it. */
export const JOB_SIGNALS = [...END_SIGNALS, 'SIGSTOP', 'SIGCONT'] as const;

/** Reads the name or the number of a signal that can end a job: `INT`, `sigint` or `2`. */
export function readEndSignal(text: string, what: string): (typeof END_SIGNALS)[number] {
  const word = text.trim().toUpperCase();
  const name = /^\d+$/.test(word) ? signalName(Number(word)) : `SIG${word.replace(/^SIG/, '')}`;
  const found = END_SIGNALS.find((one) => one === name);
  if (found !== undefined) return found;
  const names = END_SIGNALS.map((one) => one.slice(3));
  throw invalidValue(`${what} must be one of ${names.join(', ')}, not '${text}'`);
}

/** The ways to stop a worker, strongest last: finish its jobs, leave them running, or stop them. */
export const STOP_ORDERS = ['drain', 'leave', 'force'] as const;
export type StopOrder = (typeof STOP_ORDERS)[number];
