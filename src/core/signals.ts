/** The signals in the order of their numbers on Linux. */
const NAMES =
  `SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM
  SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO
  SIGPWR SIGSYS`.split(/\s+/);

export function signalName(number: number): string | null {
  return NAMES[number - 1] ?? null;
}

export function signalNumber(name: string): number {
  return NAMES.indexOf(name) + 1;
}
