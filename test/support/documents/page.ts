/**
 * Reads the commands and programs on a Markdown page.
 *
 * - A `console` block is a terminal session. A line that starts with `$ ` is a command, lines that start with `> ` (or that
 *   follow a `\`) continue it, and everything else is its output. A line `…` stands for any number of lines, and `…`
 *   inside a line stands for any text. Notes (`note: …`) may be left out.
 * - A command must exit with N if it ends in `# exit code N`. Otherwise, it must fail if the page shows a line of
 *   output that starts with `error:`, and exit with 0 if not.
 * - A `sh` block is run as a whole. Every command in it must succeed, and its output is not compared.
 * - `<!-- not run: REASON -->` before a block leaves it out. `<!-- prepare: COMMANDS -->` runs commands that a reader need
 *   not see, such as creating an input file.
 * - Consecutive `ts` blocks are one program. A block that starts with an import starts the next program.
 */
export interface Step {
  /** The number of the line on the page, from 1. */
  line: number;
  command: string;
  /** The output that the page shows, or null if it is not compared. */
  shown: string[] | null;
  /** The expected exit code, or 'error' for any code but 0. */
  exit: number | 'error';
}

export interface Page {
  steps: Step[];
  programs: { line: number; source: string }[];
  notRun: { line: number; reason: string }[];
}

/** Languages of blocks that show something other than commands. */
const NOT_COMMANDS = ['text', 'json', 'nginx', 'ini', 'mermaid', 'yaml', 'sql', 'html', 'promql', 'diff', ''];
const NOT_RUN = /^<!-- not run: (.+) -->$/;
const PREPARE = /^<!-- prepare: ([\s\S]+?) -->$/;

export function readPage(text: string): Page {
  const lines = text.split('\n');
  const page: Page = { steps: [], programs: [], notRun: [] };
  let reason: string | null = null;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith('<!--')) {
      const start = at;
      while (!lines[at]!.endsWith('-->') && at < lines.length - 1) at++;
      const comment = lines.slice(start, at + 1).join('\n');
      reason = NOT_RUN.exec(comment)?.[1] ?? null;
      const command = PREPARE.exec(comment)?.[1];
      if (command !== undefined) page.steps.push({ line: start + 1, command, shown: null, exit: 0 });
      continue;
    }
    const language = /^\s*```(\S*)/.exec(line)?.[1];
    if (language === undefined) {
      if (line.trim() !== '') reason = null;
      continue;
    }
    const start = at + 1;
    at++;
    while (at < lines.length && !/^\s*```/.test(lines[at]!)) at++;
    const block = lines.slice(start, at);
    if (reason !== null) page.notRun.push({ line: start, reason });
    else readBlock(page, language, block, start);
    reason = null;
  }
  return page;
}

function readBlock(page: Page, language: string, block: string[], start: number): void {
  if (language === 'console') page.steps.push(...readSession(block, start));
  else if (language === 'sh')
    page.steps.push({ line: start + 1, command: block.join('\n'), shown: null, exit: 0 });
  else if (language === 'ts') readProgram(page, block.join('\n'), start + 1);
  else if (!NOT_COMMANDS.includes(language))
    throw new Error(`line ${start}: a block of '${language}' is neither run nor marked as not run`);
}

function readProgram(page: Page, source: string, line: number): void {
  const last = page.programs.at(-1);
  if (last === undefined || source.startsWith('import ')) page.programs.push({ line, source });
  else last.source += `\n${source}`;
}

function readSession(block: string[], start: number): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < block.length; at++) {
    const first = block[at]!;
    if (!first.startsWith('$ ')) throw new Error(`line ${start + at + 1}: output without a command`);
    const line = start + at + 1;
    const typed = [first.slice(2)];
    while (at + 1 < block.length && (typed.at(-1)!.endsWith('\\') || block[at + 1]!.startsWith('> ')))
      typed.push(block[++at]!.replace(/^> /, ''));
    const shown = [];
    while (at + 1 < block.length && !block[at + 1]!.startsWith('$ ')) shown.push(block[++at]!);
    const code = /# exit code (\d+)$/.exec(typed.at(-1)!)?.[1];
    const failed = shown.some((text) => text.startsWith('error:'));
    const exit = code !== undefined ? Number(code) : failed ? 'error' : 0;
    steps.push({ line, command: typed.join('\n'), shown, exit });
  }
  return steps;
}

/** Returns the page with the outputs of these steps replaced. */
export function withOutputs(text: string, outputs: Map<Step, string[]>): string {
  const lines = text.split('\n');
  for (const [step, output] of [...outputs].sort(([a], [b]) => b.line - a.line)) {
    const from = step.line - 1 + step.command.split('\n').length;
    lines.splice(from, step.shown!.length, ...output);
  }
  return lines.join('\n');
}
