import { isPlainCommand } from '../core/plain-command.ts';

/**
 * The lines of shell around every command. They take the gate (an exclusively created record), run the command as a child,
 * write its exit code over the record in place (with a fixed width, so that a full disk cannot prevent it), and exit with it.
 *
 * - `trap :` lets the frame survive a signal to the group. With `trap ''`, its children would ignore the signal, too.
 * - HUP, INT and TERM are noted in the record as an `s` behind the exit code. A stop of the whole service signals the
 *   frame as well, so the note distinguishes a stopped command from a failed one. The note is kept as the shell
 *   option -b, which has no effect here, because a variable of ours could shadow one of the user's.
 * - The trap on EXIT is for a shell that exits because it cannot fork. Its code 76 shows that nothing ran.
 * - The frame exits with 75 or 76 only if it ran nothing. If a command exits with one of these, the frame ends by a signal instead,
 *   so that the code is never mistaken for one of the frame's, even without the record.
 * - The stderr of the frame is /dev/null, because a shell prints "Terminated" when its child is terminated.
 * - The frame uses only positional parameters, because a variable of ours could shadow one of the user's environment.
 * - Descriptor 3 is the lifeline, which the frame holds while it runs. The command gets neither 3 nor 4.
 * - The parameters are $1 record, $2 umask, $3 soft limit of open files or -, $4 name of the lifeline or -, then the command.
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

/** Runs a command in a shell. Redirects inside a subshell. Outside it, the message "Terminated" would be redirected, too. */
const SHELL = `${BEFORE}(exec /bin/sh -c "$5" 2>&4 3>&- 4>&-)${AFTER}`;
/** Runs a program. Uses exec, because a plain "$@" would prefer the builtins of the shell to programs of the same name. */
const ARGV = `${BEFORE}(shift 4; exec "$@" 2>&4 3>&- 4>&-)${AFTER}`;

/**
 * The text around a command that needs no shell of its own. It is one line, and has the name of the other shell, so that the
 * message about a missing program is the same. The exit behind the command keeps the last program from replacing the subshell,
 * which reports when a signal ended it.
 */
const PLAIN = `${BEFORE}(exec 2>&4 3>&- 4>&-; `.replaceAll('\n', '; ');
const PLAIN_END = `; exit $?)${AFTER}`.replaceAll('\n', '; '); // fault-control: plain-end

/** The limits that users set for their processes. They are read once, because reading the umask sets it for a moment. */
export interface UserLimits {
  umask: number;
  /** The soft limit of open files. Null leaves it unchanged. */
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

/** Returns the arguments of /bin/sh that run a command in its frame. */
export function frameArguments(input: FrameInput): string[] {
  const { record, lifeline, umask, openFiles, command, argv } = input;
  const mask = umask.toString(8).padStart(4, '0');
  const fixed = ['/bin/sh', record, mask, openFiles ?? '-', lifeline ?? '-'];
  if (argv !== null) return ['-c', ARGV, ...fixed, ...argv];
  return isPlainCommand(command)
    ? ['-c', PLAIN + command + PLAIN_END, ...fixed]
    : ['-c', SHELL, ...fixed, command];
}

/** Returns the path of the record from the arguments of a frame. The first of them is the name of the program. */
export function recordIn(args: readonly string[]): string | undefined {
  return args[4];
}
