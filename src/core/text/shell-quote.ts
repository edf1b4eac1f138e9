import { printable } from './printable.ts';

/** Quotes any text as one word for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a text as one word that is safe to paste into a shell. Quotes it only if necessary. Control and invisible characters become
 * escapes, because a terminal would obey them. Hints use this for every id, name and path.
 */
export function shellWord(text: string): string {
  // zsh expands a word that starts with an equals sign.
  if (/^(?!=)[\w@%+=:,./-]+$/.test(text)) return text;
  if (printable(text) === text) return shellQuote(text);
  return `$'${[...text].map((char) => (/['\\]/.test(char) || printable(char) !== char ? octal(char) : char)).join('')}'`;
}

/** Returns the path of a file as one word that no command takes for a flag. */
export function pathWord(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path);
}

function octal(char: string): string {
  return Array.from(new TextEncoder().encode(char), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(
    '',
  );
}
