/**
 * Runs when a shell exits before a program has run. If it cannot fork, nothing ran. The record then gets the mark of a closed
 * gate, and the frame kills itself. A shell that cannot fork exits with 2, and bash with at least 128. Bash also runs this when a
 * signal ends it, but then the code has fewer digits.
 */
const ON_EXIT = `trap 'case \${BASH_VERSION:+b}$? in 2|b???) printf "%-10s %-5s\\n" $$ gate 1<>"$1"; kill -9 $$;; esac' EXIT`;

/**
 * The shell lines before every command. Together with the command and `FRAME_END`, they are the frame. It takes the gate
 * (creates the record exclusively), runs the command as a child, writes the exit code over the record in place (with a fixed
 * width, so that a full disk cannot prevent it), and exits with the same code.
 *
 * - `trap :` lets the frame survive a signal to the group. With `trap ''`, its children would ignore the signal, too.
 * - HUP, INT and TERM are noted in the record as an `s` behind the exit code. A stop of the whole service signals the
 *   frame as well, so the note distinguishes a stopped command from a failed one. While the command runs, the note is the shell
 *   option -b, which has no effect in the frame.
 * - The frame exits with 75 only if it lost the gate. If a command exits with 75, the frame ends by a signal instead, so that the
 *   code is never mistaken for one of the frame's, even without the record.
 * - The stderr of the frame is /dev/null, because a shell prints "Terminated" when its child is terminated.
 * - The frame sets no variables, because they could replace variables of the user. It uses only positional parameters.
 * - Descriptor 3 is the lifeline, which the frame holds while it runs. The command gets neither 3 nor 4.
 * - The parameters are $1 record, $2 umask, $3 soft limit of open files or -, $4 name of the lifeline or -, and from $5 on the
 *   command, unless it is part of the script (`plainScript`).
 */
const FRAME_START = `trap : QUIT PIPE ALRM USR1 USR2 VTALRM PROF XCPU XFSZ
trap 'set -b' HUP INT TERM
exec 4>&2 2>/dev/null
umask 077
set -C
printf '%-10s %-5s %s\\n' $$ run "$4" >"$1" || exit 75
${ON_EXIT}
set +C
umask "$2"
[ "$3" = - ] || ulimit -S -n "$3"
`; // fault-control: frame

const FRAME_END = `
set -- "$1" $?
case $- in *b*) set -- "$1" $2 s;; esac
printf '%-10s %-5s\\n' $$ $2$3 1<>"$1"
trap - EXIT USR1
case $2 in 75) kill -USR1 $$;; esac
exit $2`;

/** Runs a command in a shell. Redirects stderr inside a subshell, so that the frame's own "Terminated" is not in the output. */
const SHELL_FRAME = `${FRAME_START}(exec /bin/sh -c "$5" 2>&4 3>&- 4>&-)${FRAME_END}`;
/** Runs a program. Uses exec, because a plain "$@" would prefer the builtins of the shell to programs of the same name. */
const ARGV_FRAME = `${FRAME_START}(shift 4; exec "$@" 2>&4 3>&- 4>&-)${FRAME_END}`;

/**
 * Returns the script around a command that needs no shell of its own. The script is one line, and its $0 is /bin/sh, so that the
 * message about a missing program is the same as in `SHELL_FRAME`.
 *
 * - Builtins that end immediately run in the frame.
 * - A single program replaces the subshell, which the shell does for the last command of an AND list. So it needs only one fork.
 * - Otherwise the subshell forks for each program. If it cannot fork for the first one, nothing ran. Once a program has ended, the
 *   function `_` removes the trap. The `exit` keeps the last program from replacing the subshell, as in a shell of its own.
 */
function plainScript(command: string): string {
  const body = endsImmediately(command)
    ? `{ ${command}; } 2>&4 3>&- 4>&-`
    : isSingleProgram(command)
      ? `(exec 2>&4 3>&- 4>&- && ${command})`
      : `(${ON_EXIT}; exec 2>&4 3>&- 4>&-; _() { trap - EXIT; return $1; }; ${wrapPrograms(command, '{', '; _ $?; }')}; _ $?; exit $?)`;
  return ONE_LINE_START + body + ONE_LINE_END;
}

const ONE_LINE_START = FRAME_START.replaceAll('\n', '; ');
const ONE_LINE_END = FRAME_END.replaceAll('\n', '; ');

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
  return ['-c', plainScript(command), ...fixed];
}

/** Returns the path of the record from the command line of a frame, which begins with the name of the program. */
export function recordPathIn(args: readonly string[]): string | undefined {
  return args[4];
}

/**
 * Tells whether a command can run in a subshell of its frame (see exec/frame.ts) instead of a second `sh -c`. That is the case
 * if every shell runs the text in the same way in both places: programs with plain or quoted words, joined by &&, || or ;.
 * Expansions, redirections, groups, definitions, background commands and builtins that depend on the shell are excluded. In
 * doubt it returns false.
 */
export function isPlainCommand(text: string): boolean {
  return text.length <= MAX_LENGTH && SHAPE.test(text) && programsIn(text).every(isPlainProgram);
}

/**
 * Tells whether a plain command consists only of builtins that end immediately, so that the frame can run it without a
 * subshell. `printf` is not one of them, because it can print more than fits on the disk, nor is `test`, which can wait for a
 * file system.
 */
export function endsImmediately(plainCommand: string): boolean {
  return programsIn(plainCommand).every((word) => IMMEDIATE_BUILTINS.has(word));
}

/** Tells whether a plain command consists of one program or builtin. */
function isSingleProgram(plainCommand: string): boolean {
  return programsIn(plainCommand).length === 1;
}

/** Puts text before and after each command of a plain command that is not a builtin. */
function wrapPrograms(plainCommand: string, before: string, after: string): string {
  return plainCommand.replace(COMMANDS, (command) =>
    SAFE_BUILTINS.has(command.trim().split(' ')[0]!) ? command : `${before} ${command.trimEnd()}${after} `,
  );
}

/** The maximum length of a plain command, which becomes part of the frame's script. */
const MAX_LENGTH = 4096;

const SIMPLE_CHAR = '[A-Za-z0-9_./:=,@%+-]';
/** Matches a word. Quotes contain printable ASCII. Double quotes exclude the characters that some shell treats as special there. */
const WORD = `(?:${SIMPLE_CHAR}|'[ -&(-~]*'|"[ #%-[\\]^_a-~]*")+`;
const COMMAND = `${SIMPLE_CHAR}+(?: +${WORD})*`;
/** Matches each command of a plain command, but not the operators between them. */
const COMMANDS = /(?:[^;&|'"]|'[^']*'|"[^"]*")+/g;
const SHAPE = new RegExp(`^ *${COMMAND}(?: *(?:&&|\\|\\||;) *${COMMAND})* *$`);

/** Returns the first word of each command. Quoted text is replaced first, because an operator in it is only text. */
function programsIn(text: string): string[] {
  const unquoted = text.replace(/'[^']*'|"[^"]*"/g, 'quoted');
  return unquoted.split(/&&|\|\||;/).map((command) => command.trim().split(' ')[0]!);
}

function isPlainProgram(word: string): boolean {
  return (word.includes('/') && !word.includes('=')) || SAFE_BUILTINS.has(word) || isProgramName(word);
}

/** Builtins that only print, compare or do nothing. */
const SAFE_BUILTINS = new Set(['true', 'false', 'echo', 'printf', 'test']);

const IMMEDIATE_BUILTINS = new Set(['true', 'false', 'echo']);

function isProgramName(word: string): boolean {
  return /^[a-z][a-z0-9_+-]*$/i.test(word) && !SHELL_WORDS.has(word);
}

/** The reserved words and other builtins of dash, bash, ksh, zsh and busybox. They are not allowed as the first word of a command. */
const SHELL_WORDS = new Set(
  `alias autoload bg bind break builtin bye caller case cd chdir command compctl compgen complete compopt continue coproc
  declare dirs disable disown do done echotc elif else emulate enable end esac eval exec exit export fc fg fi float for
  foreach function functions getln getopts global hash help history hist if in integer jobid jobs kill let limit local
  log login logout mapfile nameref newgrp nocorrect noglob popd print pushd pushln pwd r read readarray readonly rehash
  repeat return sched select set setopt shift shopt source stop suspend then time times trap ttyctl type typeset
  ulimit umask unalias unfunction unhash unlimit unset unsetopt until vared wait whence where which while zle
  zmodload`.split(/\s+/),
);
