import { invalidValue, type QueueError } from '../errors.ts';
import { shellQuote } from '../text/shell-quote.ts';

/** Makes a command from one line of input. */
export type CommandTemplate = (line: string) => string;

const PLACEHOLDER = '{}';

/** Constructs that a template cannot contain: a quoted word inside them is not one word, or only a full parser finds their end. */
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
  if (found !== undefined) throw unsupportedError(found[1]);
  const substitution = text.indexOf('$(');
  if (substitution >= 0 && /\bcase\b/.test(text.slice(substitution)))
    throw unsupportedError('case inside $(…)');
  const parts = splitAtPlaceholders(text);
  if (parts.length === 1)
    throw invalidValue(
      'the template does not contain {}',
      "for example: queuectl enqueue --template 'gzip -- {}' --file names.txt",
    );
  return (line) => parts.join(shellQuote(line));
}

type Context = 'plain' | 'parentheses' | 'double quotes';

/** Splits a template at its {}. Follows the shell's quoting, because a {} is allowed only where it is outside of quotes. */
function splitAtPlaceholders(text: string): string[] {
  const parts: string[] = [];
  const contexts: Context[] = ['plain'];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const context = contexts.at(-1)!;
    const char = text[at]!;
    const isUnquoted = context !== 'double quotes';
    if (char === '\\') at++;
    else if (text.startsWith(PLACEHOLDER, at)) {
      if (!isUnquoted) throw misplacedError();
      parts.push(text.slice(start, at));
      start = at + PLACEHOLDER.length;
      at = start - 1;
    } else if (char === "'" && isUnquoted) at = skipTo(text, at, text.indexOf("'", at + 1));
    else if (char === '#' && isUnquoted && isWordBoundary(text[at - 1]))
      at = skipTo(text, at, text.indexOf('\n', at));
    else if (char === '"') {
      if (isUnquoted) contexts.push('double quotes');
      else contexts.pop();
    } else if (char === '$' && /^(\{|\(\()/.test(text.slice(at + 1, at + 3))) at = endOfExpansion(text, at);
    else if (char === '$' && text[at + 1] === '(') {
      contexts.push('parentheses');
      at++;
    } else if (char === '(' && isUnquoted) contexts.push('parentheses');
    else if (char === ')' && context === 'parentheses') contexts.pop();
  }
  parts.push(text.slice(start));
  return parts;
}

function isWordBoundary(before: string | undefined): boolean {
  return before === undefined || /[\s;&|()]/.test(before);
}

/** Returns the index of the end of `${…}` or `$((…))`, which may be nested. */
function endOfExpansion(text: string, at: number): number {
  const [open, close] = text[at + 1] === '{' ? ['{', '}'] : ['(', ')'];
  let depth = 0;
  for (let i = at + 1; i < text.length; i++) {
    if (/['"\\]/.test(text[i]!)) throw unsupportedError('quotes inside a variable expansion');
    if (text[i] === open) depth++;
    else if (text[i] === close && --depth === 0) return skipTo(text, at, i);
  }
  return skipTo(text, at, -1);
}

/** Returns where quotes, a comment or an expansion ends. `end` is -1 if it is not closed. Throws if it contains {}. */
function skipTo(text: string, from: number, end: number): number {
  const to = end === -1 ? text.length : end;
  if (text.slice(from, to + 1).includes(PLACEHOLDER)) throw misplacedError();
  return to;
}

function unsupportedError(what: string): QueueError {
  return invalidValue(
    `a template cannot contain ${what}`,
    "put the command in a script and use --template 'sh script.sh {}'",
  );
}

function misplacedError(): QueueError {
  return invalidValue(
    '{} in a template must be outside quotes, comments and expansions, because its value is quoted automatically',
    "for example: queuectl enqueue --template 'gzip -- {}' --file names.txt",
  );
}
