import { withoutControls } from './printable.ts';

/** Matches lines that runtimes and tools print after an error and that do not describe it. */
const CLOSING_LINE =
  /^(Node\.js v\d|Bun v\d|\(Use `node --trace|note: (run with|Some details)|npm (ERR!|error)( A complete log.*| +\/\S+\.log)?$|exit status \d+$)/;
const RUNTIME_VERSION = /^(Node\.js|Bun) v\d/;
const CARET_LINE = /^\s*\^+\s*$/;
/** Matches a line of a stack trace of JavaScript, Java, .NET or Ruby. */
const STACK_LINE = /^\s+(at |from \S+:\d+|\.\.\. \d+ )/;
const ERROR_NAME = /^(Uncaught |Caused by: )?[\w.$]*(Error|Exception)\b/;

/** Each rule finds the error message of some languages. `all` is the whole output, and `lines` ends before its closing lines. */
const RULES: ((lines: string[], all: string[]) => string | undefined)[] = [
  // Node.js and Bun show the source line with a caret, then the error, and end with their version.
  (lines, all) => {
    if (!all.slice(lines.length).some((line) => RUNTIME_VERSION.test(line))) return undefined;
    const caret = lines.findLastIndex((line) => CARET_LINE.test(line));
    return caret === -1 ? undefined : lines.slice(caret + 1).find((line) => line.trim() !== '');
  },
  // Python: the exception is the first line after the traceback that is not indented.
  (lines) => {
    const start = lines.findLastIndex((line) => line.startsWith('Traceback (most recent call last)'));
    return start === -1 ? undefined : lines.slice(start + 1).find((line) => /^[\w.]+(: |:?$)/.test(line));
  },
  // Go: the panic comes before the goroutines.
  (lines) => {
    const goroutine = lines.findIndex((line) => /^goroutine \d+ .*\[/.test(line));
    return lines.slice(0, Math.max(0, goroutine)).findLast((line) => /^(panic|fatal error): /.test(line));
  },
  // Rust: the message follows the line that says where the panic was.
  (lines) => {
    const panicLine = lines.findLastIndex(
      (line) => line.startsWith('thread ') && line.includes(' panicked at ') && line.endsWith(':'),
    );
    return panicLine === -1 ? undefined : lines[panicLine + 1];
  },
  // Ruby, PHP and Elixir: the message is in a line of a fixed form.
  (lines) =>
    lines.findLast((line) => /^\S+:\d+:in .*: .* \([\w:]+\)$|^(PHP )?Fatal error: |^\*\* \(\w/.test(line)),
  lineAboveStackTrace,
];

/** Returns a line of the message above a stack trace at the end: the one with the name of an error, or else the last. */
function lineAboveStackTrace(lines: string[]): string | undefined {
  let at = lines.length - 1;
  // The properties of a JavaScript error are in braces after its stack trace.
  if (lines[at] === '}') at = lines.findLastIndex((line) => STACK_LINE.test(line) && line.endsWith(' {'));
  if (at < 0 || !STACK_LINE.test(lines[at]!)) return undefined;
  while (at >= 0 && (STACK_LINE.test(lines[at]!) || lines[at]!.trim() === '')) at--;
  // A message may have several lines, and often only the first has the name of the error.
  const from = lines.findLastIndex((line, i) => i < at && (STACK_LINE.test(line) || line.trim() === '')) + 1;
  return lines.slice(from, at + 1).findLast((line) => ERROR_NAME.test(line)) ?? lines[at];
}

/** Returns the error message in a failed command's output, or else the last line that is not blank. */
export function errorLine(output: string): string {
  const all = output.split(/[\r\n]+/).map((line) => withoutControls(line));
  const end = all.findLastIndex((line) => line.trim() !== '' && !CLOSING_LINE.test(line.trim()));
  const lines = all.slice(0, end + 1);
  for (const rule of RULES) {
    const found = rule(lines, all);
    if (found !== undefined && found.trim() !== '') return found.trim();
  }
  return (lines.at(-1) ?? all.findLast((line) => line.trim() !== '') ?? '').trim();
}
