import { endsImmediately, isPlainCommand } from '../core/plain-command.ts';

/**
 * The shell lines before every command. Together with the command and `FRAME_END`, they are the frame. It takes the gate
 * (creates the record exclusively), runs the command as a child, writes the exit code over the record in place (with a fixed
 * width, so that a full disk cannot prevent it), and exits with the same code.
 *
 * - `trap :` lets the frame survive a signal to the group. With `trap ''`, its children would ignore the signal, too.
 * - HUP, INT and TERM are noted in the record as an `s` behind the exit code. A stop of the whole service signals the
 *   frame as well, so the note distinguishes a stopped command from a failed one. While the command runs, the note is the shell
 *   option -b, which has no effect in the frame.
 * - The trap on EXIT is for a shell that exits because it cannot fork. Its code 76 shows that nothing ran.
 * - The frame exits with 75 or 76 only if it ran nothing. If a command exits with one of these, the frame ends by a signal instead,
 *   so that the code is never mistaken for one of the frame's, even without the record.
 * - The stderr of the frame is /dev/null, because a shell prints "Terminated" when its child is terminated.
 * - The frame sets no variables, because they could replace variables of the user. It uses only positional parameters.
 * - Descriptor 3 is the lifeline, which the frame holds while it runs. The command gets neither 3 nor 4.
 * - The parameters are $1 record, $2 umask, $3 soft limit of open files or -, $4 name of the lifeline or -, and from $5 on the
 *   command, unless it is part of the script (`PLAIN_START`).
 */
const FRAME_START = `trap : QUIT PIPE ALRM USR1 USR2 VTALRM PROF XCPU XFSZ
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

const FRAME_END = `
set -- "$1" $?
case $- in *b*) set -- "$1" $2 s;; esac
printf '%-10s %-5s\\n' $$ $2$3 1<>"$1"
trap - EXIT USR1 USR2
case $2 in 75) kill -USR1 $$;; 76) kill -USR2 $$;; esac
exit $2`;

/** Runs a command in a shell. Redirects stderr inside a subshell, so that the frame's own "Terminated" is not in the output. */
const SHELL_FRAME = `${FRAME_START}(exec /bin/sh -c "$5" 2>&4 3>&- 4>&-)${FRAME_END}`;
/** Runs a program. Uses exec, because a plain "$@" would prefer the builtins of the shell to programs of the same name. */
const ARGV_FRAME = `${FRAME_START}(shift 4; exec "$@" 2>&4 3>&- 4>&-)${FRAME_END}`;

/**
 * The script around a command that needs no shell of its own. The script is one line, and its $0 is /bin/sh, so that the message
 * about a missing program is the same as in `SHELL_FRAME`. The `exit` after the command keeps the last program from replacing
 * the subshell, which prints a message if a signal ends that program.
 */
const PLAIN_START = `${FRAME_START}(exec 2>&4 3>&- 4>&-; `.replaceAll('\n', '; ');
const PLAIN_END = `; exit $?)${FRAME_END}`.replaceAll('\n', '; '); // fault-control: plain-end

/** The script around builtins that end immediately. It saves the fork of the subshell. */
const IMMEDIATE_START = `${FRAME_START}{ `.replaceAll('\n', '; ');
const IMMEDIATE_END = `; } 2>&4 3>&- 4>&-${FRAME_END}`.replaceAll('\n', '; ');

/** The settings that a worker passes on to its commands. They are read once, because reading the umask sets it for a moment. */
export interface UserSettings {
  umask: number;
  /** The soft limit of open files. Null leaves it unchanged. */
  openFileLimit: string | null;
  /** Whether every job gets a clean environment, even without its own `cleanEnv`. */
  cleanEnv?: boolean;
}

export interface FrameInput extends UserSettings {
  record: string;
  /** The name of the lifeline on descriptor 3, if there is one. */
  lifeline?: string | undefined;
  command: string;
  argv: string[] | null;
}

/** Returns the arguments of /bin/sh that run a command in its frame. */
export function frameArguments(input: FrameInput): string[] {
  const { record, lifeline, umask, openFileLimit, command, argv } = input;
  const mask = umask.toString(8).padStart(4, '0');
  const fixed = ['/bin/sh', record, mask, openFileLimit ?? '-', lifeline ?? '-'];
  if (argv !== null) return ['-c', ARGV_FRAME, ...fixed, ...argv];
  if (!isPlainCommand(command)) return ['-c', SHELL_FRAME, ...fixed, command];
  const script = endsImmediately(command)
    ? IMMEDIATE_START + command + IMMEDIATE_END
    : PLAIN_START + command + PLAIN_END;
  return ['-c', script, ...fixed];
}

/** Returns the path of the record from the command line of a frame, which begins with the name of the program. */
export function recordPathIn(args: readonly string[]): string | undefined {
  return args[4];
}
