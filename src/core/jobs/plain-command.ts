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
export function isSingleProgram(plainCommand: string): boolean {
  return programsIn(plainCommand).length === 1;
}

/** Puts text before and after each command of a plain command that is not a builtin. */
export function wrapPrograms(plainCommand: string, before: string, after: string): string {
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
