const NPM_LINE = /^npm (ERR!|error)/;
/** A line with a fact about an error, such as `code 1`, but without its message. */
const FACT =
  /^npm (ERR!|error)( (code|syscall|path|dest|errno|command|workspace|location|signal|cwd|A complete log|Lifecycle script|Exit status|Failed at)\b|\s*$|\s+\/\S+\.log$)/;
/** npm prints these lines if the command of a script has failed. */
const SCRIPT_FAILED = /^npm (ERR!|error) (code (\d|ELIFECYCLE)|command failed|Lifecycle script)/;
const PREAMBLE = /^(> |npm (warn|WARN|notice|info)\b|\s*$)/;

/** Tells whether npm printed this line about an error. */
export const isNpmLine = (line: string): boolean => NPM_LINE.test(line);

/**
 * Returns the message of an error report of npm at the end of the output. Returns undefined if there is none, or if the command
 * of a script has failed, because its own output above tells why.
 */
export function npmMessage(lines: string[]): string | undefined {
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
