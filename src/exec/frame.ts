import { isPlainCommand } from '../core/plain-command.ts';

/**
 * The few lines of shell around every command. They take the gate (an exclusively created record), run the command as
 * a child, write its exit code over the record in place (fixed width: a full disk cannot stop that), and exit with it.
 *
 * - `trap :` rather than `trap ''`: the frame outlives a signal to the group, its children do not inherit that.
 * - HUP, INT and TERM are noted in the record as an `s` behind the exit code. A stop of the whole service signals the
 *   frame as well, so the note tells a command that was stopped from one that failed. The note is kept as the shell
 *   option -b, which has no effect here, because a variable of ours could shadow one of the user's.
 * - The trap on EXIT is for a shell that gives up because it cannot fork: nothing ran, and nobody may think so.
 * - It exits with 75 and 76 only when it ran nothing. A command that exits so makes it end by a signal instead: a code
 *   of the command is never taken for one of the frame's, whatever became of the record.
 * - Its own stderr is /dev/null: a shell says "Terminated" when its child is, and the output is the command's alone.
 * - Only positional parameters: a variable of ours could shadow one of the user's environment.
 * - Descriptor 3 is the lifeline, which the frame holds for as long as it lives; the command gets neither it nor 4.
 * - $1 record, $2 umask, $3 soft limit of open files or -, $4 name of the lifeline or -, then the command.
 */
const BEFORE = `trap : QUIT PIPE ALRM USR1 USR2 VTALRM PROF XCPU XFSZ
trap 'set -b' HUP INT TERM
exec 4>&2 2>/dev/null
umask 077
set -C
printf '%-10s %-5s %s\\n' $$ run "$4" >"$1" || exit 75
trap 'exit 76' EXIT
set +C
umask "$2"
[ "$3" = - ] || ulimit -S -n "$3"
`; // fault-control: frame

const AFTER = `
set -- "$1" $?
case $- in *b*) set -- "$1" $2 s;; esac
printf '%-10s %-5s\\n' $$ $2$3 1<>"$1"
trap - EXIT USR1 USR2
case $2 in 75) kill -USR1 $$;; 76) kill -USR2 $$;; esac
exit $2`;

/** Redirected inside a subshell: outside it the shell's own "Terminated" would go the same way. */
const SHELL = `${BEFORE}(exec /bin/sh -c "$5" 2>&4 3>&- 4>&-)${AFTER}`;
/** exec, because a plain "$@" would prefer the shell's builtins to the programs of the same name. */
const ARGV = `${BEFORE}(shift 4; exec "$@" 2>&4 3>&- 4>&-)${AFTER}`;

/**
 * A command that needs no shell of its own stands in the text itself. All in one line, under the name that the other
 * shell would have: what a shell says of a program that it does not find is then the same. With an exit behind it, or the
 * last program would take the subshell's place, and nobody would say that a signal ended it.
 */
const PLAIN = `${BEFORE}(exec 2>&4 3>&- 4>&-; `.replaceAll('\n', '; ');
const PLAIN_END = `; exit $?)${AFTER}`.replaceAll('\n', '; '); // fault-control: plain-end

/** What the user set for the processes he starts. Read once: asking for the umask means setting it for a moment. */
export interface UserLimits {
  umask: number;
  /** The soft limit of open files; null: leave it. */
  openFiles: string | null;
  /** Every job gets a clean environment. */
  cleanEnv?: boolean;
}

export interface FrameInput extends UserLimits {
  record: string;
  /** The name of the lifeline on descriptor 3, if there is one. */
  lifeline?: string | undefined;
  command: string;
  argv: string[] | null;
}

/** The arguments of /bin/sh. */
export function frameArguments(input: FrameInput): string[] {
  const { record, lifeline, umask, openFiles, command, argv } = input;
  const mask = umask.toString(8).padStart(4, '0');
  const fixed = ['/bin/sh', record, mask, openFiles ?? '-', lifeline ?? '-'];
  if (argv !== null) return ['-c', ARGV, ...fixed, ...argv];
  return isPlainCommand(command)
    ? ['-c', PLAIN + command + PLAIN_END, ...fixed]
    : ['-c', SHELL, ...fixed, command];
}

/** Returns the record of the frame that runs with these arguments, the program's name before them. */
export function recordIn(args: readonly string[]): string | undefined {
  return args[4];
}
