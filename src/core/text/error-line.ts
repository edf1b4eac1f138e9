import { withoutControls } from './printable.ts';

const NPM_LINE = /^npm (ERR!|error)/;
/** A line with a fact about an error, such as `code 1`, but without its message. */
const FACT =
  /^npm (ERR!|error)( (code|syscall|path|dest|errno|command|workspace|location|signal|cwd|A complete log|Lifecycle script|Exit status|Failed at)\b|\s*$|\s+\/\S+\.log$)/;
/** npm prints these lines if the command of a script has failed. */
const SCRIPT_FAILED = /^npm (ERR!|error) (code (\d|ELIFECYCLE)|command failed|Lifecycle script)/;
const PREAMBLE = /^(> |npm (warn|WARN|notice|info)\b|\s*$)/;

/** Tells whether npm printed this line about an error. */
const isNpmLine = (line: string): boolean => NPM_LINE.test(line);

/**
 * Returns the message of an error report of npm at the end of the output. Returns undefined if there is none, or if the command
 * of a script has failed, because its own output above tells why.
 */
function npmMessage(lines: string[]): string | undefined {
  const before = lines.findLastIndex((line) => line.trim() !== '' && !isNpmLine(line));
  const report = lines.slice(before + 1).filter(isNpmLine);
  const isOfScript = report.some((line) => SCRIPT_FAILED.test(line));
  if (isOfScript && lines.slice(0, before + 1).some((line) => !PREAMBLE.test(line))) return undefined;
  const messages = report.filter((line) => !FACT.test(line));
  return (
    messages.find((line) => line.includes('Error: ')) ??
    messages[0] ??
    report.findLast((line) => SCRIPT_FAILED.test(line))
  );
}

/** Matches lines that runtimes and tools print after an error and that do not describe it. */
const CLOSING_LINE =
  /^(Node\.js v\d|Bun v\d|\(Use `node --trace|note: (run with|Some details)|exit status \d+$|error Command failed with exit code \d|info Visit https:\/\/yarnpkg|ELIFECYCLE\s|error: script "[^"]*" (exited with code|was terminated))/;
/** `make` names the target whose command failed. The command itself has printed why. */
const MAKE_LINE =
  /^g?make(\[\d+\])?: (\*\*\* \[.*\] Error \d|Leaving directory|Target .* not remade because of errors)/;
const RUNTIME_VERSION = /^(Node\.js|Bun) v\d/;
const CARET_LINE = /^\s*\^+\s*$/;
/** Matches a line of a stack trace of JavaScript, Java, .NET or Ruby. */
const STACK_LINE = /^\s+(at |from \S+:\d+|\.\.\. \d+ )/;
const ERROR_NAME = /^(Uncaught |Caused by: )?[\w.$]*(Error|Exception)\b/;
const GOROUTINE = /^goroutine \d+ .*\[/;

/**
 * Each rule finds the error message of some languages. It finds nothing if lines follow that are not part of the
 * report, because a report in the middle is of an error that the command has handled. `all` is the whole output, and `lines` ends before its closing lines.
 */
const RULES: ((lines: string[], all: string[]) => string | undefined)[] = [
  // Node.js and Bun show the source line with a caret, then the error, and end with their version.
  (lines, all) => {
    if (!all.slice(lines.length).some((line) => RUNTIME_VERSION.test(line))) return undefined;
    const caret = lines.findLastIndex((line) => CARET_LINE.test(line));
    return caret === -1 ? undefined : lines.slice(caret + 1).find((line) => !isBlank(line));
  },
  // Python: the exception is the first line after the traceback that is not indented.
  (lines) => {
    const start = lines.findLastIndex((line) => line.startsWith('Traceback (most recent call last)'));
    if (start === -1) return undefined;
    const at = lines.findIndex((line, i) => i > start && /^[\w.]+(: |:?$)/.test(line));
    // A message may go on with indented lines, remarks in brackets, and field names above indented lines.
    return reportAtEnd(
      lines,
      at,
      (line, next) => /^[[(]/.test(line) || (/^[\w.]+$/.test(line) && isIndented(next)),
    );
  },
  // Go: the panic comes before the goroutines.
  (lines) => {
    const panic = lines.findLastIndex((line) => /^(panic|fatal error): /.test(line));
    const goroutine = lines.findIndex((line, i) => i > panic && GOROUTINE.test(line));
    if (panic === -1 || goroutine === -1) return undefined;
    const isStackLine = (line: string): boolean =>
      line.startsWith('created by ') || (line.endsWith(')') && /^[^\s(]+\(/.test(line));
    const isRegister = (line: string): boolean => /^r?\w+ +0x[\da-f]+$/.test(line);
    const isTrace = reportAtEnd(
      lines,
      goroutine,
      (line) => GOROUTINE.test(line) || isStackLine(line) || isRegister(line),
    );
    return isTrace === undefined ? undefined : lines[panic];
  },
  // Rust: the message follows the line that says where the panic was.
  (lines) => {
    const panicLine = lines.findLastIndex(
      (line) => line.startsWith('thread ') && line.includes(' panicked at ') && line.endsWith(':'),
    );
    if (panicLine === -1) return undefined;
    return reportAtEnd(
      lines,
      panicLine + 1,
      (line) => line.startsWith('note: ') || line === 'stack backtrace:',
    );
  },
  // Ruby, PHP and Elixir: the message is in a line of a fixed form.
  (lines) => {
    const at = lines.findLastIndex((line) =>
      /^\S+:\d+:in .*: .* \([\w:]+\)$|^(PHP )?Fatal error: |^\*\* \(\w/.test(line),
    );
    return reportAtEnd(
      lines,
      at,
      (line, next) =>
        /^((PHP )?Stack trace:|#\d+ |PHP +\d+\. |Did you mean\?)/.test(line) || CARET_LINE.test(next),
    );
  },
  lineAboveStackTrace,
];

const isBlank = (line: string): boolean => line.trim() === '';
const isIndented = (line: string): boolean => /^\s/.test(line);

/** Returns the line at an index if a report that begins there goes on to the end: all later lines are blank, indented or part of it. */
function reportAtEnd(
  lines: string[],
  at: number,
  belongs: (line: string, next: string) => boolean,
): string | undefined {
  if (at === -1) return undefined;
  const isOwn = (line: string, i: number): boolean =>
    i <= at || line === '' || isIndented(line) || belongs(line, lines[i + 1] ?? '');
  return lines.every(isOwn) ? lines[at] : undefined;
}

/** Returns a line of the message above a stack trace at the end: the one with the name of an error, or else the last. */
function lineAboveStackTrace(lines: string[]): string | undefined {
  let at = lines.length - 1;
  // The properties of a JavaScript error are in braces after its stack trace.
  if (lines[at] === '}') at = lines.findLastIndex((line) => STACK_LINE.test(line) && line.endsWith(' {'));
  if (at < 0 || !STACK_LINE.test(lines[at]!)) return undefined;
  while (at >= 0 && (STACK_LINE.test(lines[at]!) || isBlank(lines[at]!))) at--;
  // A message may have several lines, and often only the first has the name of the error.
  const from = lines.findLastIndex((line, i) => i < at && (STACK_LINE.test(line) || isBlank(line))) + 1;
  return lines.slice(from, at + 1).findLast((line) => ERROR_NAME.test(line)) ?? lines[at];
}

/** Returns the error message in a failed command's output, or else the last line that is not blank. */
export function errorLine(output: string): string {
  const all = output.split(/[\r\n]+/).map((line) => withoutControls(line));
  const ofNpm = npmMessage(all);
  if (ofNpm !== undefined) return ofNpm.trim();
  const isClosing = (line: string): boolean =>
    isBlank(line) || CLOSING_LINE.test(line.trim()) || MAKE_LINE.test(line) || isNpmLine(line);
  const lines = all.slice(0, all.findLastIndex((line) => !isClosing(line)) + 1);
  for (const rule of RULES) {
    const found = rule(lines, all);
    if (found !== undefined && !isBlank(found)) return found.trim();
  }
  return (lines.at(-1) ?? all.findLast((line) => !isBlank(line)) ?? '').trim();
}

const MAX_LENGTH = 200;

/**
 * Returns the first line of an error that is not blank, cut to MAX_LENGTH. Ids, durations, times, paths, quoted words and numbers
 * other than exit codes are replaced by `…`. Errors with the same signature form one group.
 */
export function errorSignature(error: string): string {
  const line = error.split('\n').find((one) => one.trim() !== '') ?? '';
  const text = line
    .slice(0, 4 * MAX_LENGTH)
    .replace(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/gi, '…')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, '…')
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '…')
    .replace(/(^|[\s(=:])(~?\/[^\s:,)]+)/g, '$1…')
    .replace(/\b\d+(?:\.\d+)?(?:ms|[smhd])(?: ?\d+(?:ms|[smhd]))*\b/g, '…')
    .replace(/\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{8,}\b/gi, '…')
    // An exit code stays, because errors with different codes have different causes.
    .replace(/(exit(?:ed)?(?: with)?(?: code| status)? )(\d{1,3})\b|\d+(?:[.,]\d+)*/gi, (all, exit) =>
      exit === undefined ? '…' : all,
    )
    .replace(/\s+/g, ' ')
    .replace(/…(?:[\s,:]{0,2}…)+/g, '…')
    .trim();
  return text === '' ? 'no error message' : text.slice(0, MAX_LENGTH);
}
