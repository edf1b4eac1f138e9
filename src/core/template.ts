import { QueueError } from './errors.ts';
import { shellQuote } from './shell-quote.ts';

/** Makes a command from one line of input. */
export type CommandTemplate = (line: string) => string;

const MARK = '{}';

/** Constructs that a template cannot contain. In them a quoted word is not one word, or only a full parser finds their end. */
const UNSUPPORTED: [RegExp, string][] = [
  [/<</, 'a here-document'],
  [/`/, 'backticks'],
  [/\$['"]/, "$'…'"],
];

/**
 * Compiles a template whose {} are replaced by a line as one quoted word. Throws if a {} is inside quotes, a comment or an
 * expansion, where the shell would read characters of the line as syntax. `\{}` stays as it is, for commands such as find.
 */
export function compileTemplate(text: string): CommandTemplate {
  const found = UNSUPPORTED.find(([pattern]) => pattern.test(text));
  if (found !== undefined) throw unsupported(found[1]);
  const substitution = text.indexOf('$(');
  if (substitution >= 0 && /\bcase\b/.test(text.slice(substitution))) throw unsupported('case inside $(…)');
  const parts = splitAtMarks(text);
  if (parts.length === 1)
    throw refused(
      'the template does not contain {}',
      "for example: queuectl enqueue --template 'gzip -- {}' --file names.txt",
    );
  return (line) => parts.join(shellQuote(line));
}

type Context = 'plain' | 'parentheses' | 'double quotes';

/** Returns the text between the marks. It follows the shell's quoting, because a mark is allowed only where it is one word. */
function splitAtMarks(text: string): string[] {
  const parts: string[] = [];
  const inside: Context[] = ['plain'];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const context = inside.at(-1)!;
    const char = text[at]!;
    const bare = context !== 'double quotes';
    if (char === '\\') at++;
    else if (text.startsWith(MARK, at)) {
      if (!bare) throw misplaced();
      parts.push(text.slice(start, at));
      start = at + MARK.length;
      at = start - 1;
    } else if (char === "'" && bare) at = skipTo(text, at, text.indexOf("'", at + 1));
    else if (char === '#' && bare && startsWord(text[at - 1])) at = skipTo(text, at, text.indexOf('\n', at));
    else if (char === '"') {
      if (bare) inside.push('double quotes');
      else inside.pop();
    } else if (char === '$' && /^(\{|\(\()/.test(text.slice(at + 1, at + 3))) at = endOfExpansion(text, at);
    else if (char === '$' && text[at + 1] === '(') {
      inside.push('parentheses');
      at++;
    } else if (char === '(' && bare) inside.push('parentheses');
    else if (char === ')' && context === 'parentheses') inside.pop();
  }
  parts.push(text.slice(start));
  return parts;
}

function startsWord(before: string | undefined): boolean {
  return before === undefined || /[\s;&|()]/.test(before);
}

/** Returns the index of the end of `${…}` or `$((…))`, which may be nested. */
function endOfExpansion(text: string, at: number): number {
  const [open, close] = text[at + 1] === '{' ? ['{', '}'] : ['(', ')'];
  let depth = 0;
  for (let i = at + 1; i < text.length; i++) {
    if (/['"\\]/.test(text[i]!)) throw unsupported('quotes inside a variable expansion');
    if (text[i] === open) depth++;
    else if (text[i] === close && --depth === 0) return skipTo(text, at, i);
  }
  return skipTo(text, at, -1);
}

/** Returns the end of a part of the text in which {} would not be a word. Throws if that part contains {}. */
function skipTo(text: string, from: number, end: number): number {
  const to = end === -1 ? text.length : end;
  if (text.slice(from, to + 1).includes(MARK)) throw misplaced();
  return to;
}

function unsupported(what: string): QueueError {
  return refused(
    `a template cannot contain ${what}`,
    "put the command in a script and use --template 'sh script.sh {}'",
  );
}

function misplaced(): QueueError {
  return refused(
    '{} in a template must be outside quotes, comments and expansions, because its value is quoted automatically',
    "for example: queuectl enqueue --template 'gzip -- {}' --file names.txt",
  );
}

function refused(message: string, hint: string): QueueError {
  return new QueueError('invalid-value', message, hint);
}
