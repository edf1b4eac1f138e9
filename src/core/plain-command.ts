/**
 * The judge of which commands need no shell of their own: the frame's shell forks for them anyway, and what it forks can
 * run them itself. Only for text of which every shell makes the same there as in a fresh `sh -c`: programs with plain or
 * quoted words, one after another, with && or || or ; between them. Nothing that expands, redirects, groups, defines or
 * runs aside; nothing that asks a shell about itself. In doubt: no.
 */
export function isPlainCommand(text: string): boolean {
  return text.length <= LONGEST && SHAPE.test(text) && programs(text).every(isPlainProgram);
}

/** The text stands inside the frame's own. */
const LONGEST = 4096;

const SIMPLE = '[A-Za-z0-9_./:=,@%+-]';
/** Quoted: readable ASCII, without what still means something inside double quotes, to any shell. */
const WORD = `(?:${SIMPLE}|'[ -&(-~]*'|"[ #%-[\\]^_a-~]*")+`;
const COMMAND = `${SIMPLE}+(?: +${WORD})*`;
const SHAPE = new RegExp(`^ *${COMMAND}(?: *(?:&&|\\|\\||;) *${COMMAND})* *$`);

/** The word that each command begins with. Quoted text is taken out first: an operator in it is none. */
function programs(text: string): string[] {
  const bare = text.replace(/'[^']*'|"[^"]*"/g, 'quoted');
  return bare.split(/&&|\|\||;/).map((command) => command.trim().split(' ')[0]!);
}

function isPlainProgram(word: string): boolean {
  return (word.includes('/') && !word.includes('=')) || BUILTINS.has(word) || isProgramName(word);
}

/** Builtins that only print, or compare, or do nothing. */
const BUILTINS = new Set(['true', 'false', 'echo', 'printf', 'test']);

function isProgramName(word: string): boolean {
  return /^[a-z][a-z0-9_+-]*$/i.test(word) && !SHELL_WORDS.has(word);
}

/** Reserved words and builtins of dash, bash, ksh, zsh and busybox. */
const SHELL_WORDS = new Set(
  `alias autoload bg bind break builtin bye caller case cd chdir command compctl compgen complete compopt continue coproc
  declare dirs disable disown do done echotc elif else emulate enable end esac eval exec exit export fc fg fi float for
  foreach function functions getln getopts global hash help history hist if in integer jobid jobs kill let limit local
  log login logout mapfile nameref newgrp nocorrect noglob popd print pushd pushln pwd r read readarray readonly rehash
  repeat return sched select set setopt shift shopt source stop suspend then time times trap ttyctl type typeset
  ulimit umask unalias unfunction unhash unlimit unset unsetopt until vared wait whence where which while zle
  zmodload`.split(/\s+/),
);
