import { createIo } from '../frame/io.ts';
import { paint } from '../print/text.ts';

/** A part of a help page. The terminal, the man page and the command reference render the same parts. */
export type Block =
  | { heading: string }
  /** A paragraph. */
  | string
  /** A list of terms, each with its explanation. */
  | HelpRow[]
  /** The syntax of a command line, with placeholders. */
  | { usage: string }
  /** Lines that are printed as they are. A line that starts with # is a comment. */
  | { code: string[] };

export type HelpRow = [term: string, text: string];

const MAX_WIDTH = 100;
const INDENT = 2;
/** The column of terms takes at most this share of the width. Longer terms get a line of their own. */
const MAX_TERM_SHARE = 0.34;
/** On a terminal narrower than this, explanations start below terms of more than four characters. */
const NARROW_WIDTH = 60;

export interface Style {
  width: number;
  heading(text: string): string;
  term(text: string): string;
  comment(text: string): string;
}

/** Renders a page for a terminal. Indents everything except headings and the paragraphs above the first heading. */
export function renderPage(page: Block[], style: Style): string {
  const width = Math.min(style.width, MAX_WIDTH);
  const termWidth = termColumnWidth(page, width);
  let indent = 0;
  let text = '';
  for (const [i, block] of page.entries()) {
    const previous = page[i - 1];
    if (previous !== undefined && !isHeading(previous)) text += '\n';
    if (isHeading(block)) indent = INDENT;
    text += `${blockLines(block, indent, width, termWidth, style).join('\n')}\n`;
  }
  return text;
}

function isHeading(block: Block): block is { heading: string } {
  return typeof block === 'object' && 'heading' in block;
}

/** Returns the width of the column of terms, which is the same for the whole page. */
function termColumnWidth(page: Block[], width: number): number {
  if (width < NARROW_WIDTH) return 4;
  const maxLength = Math.floor(width * MAX_TERM_SHARE);
  const lengths = page.flatMap((block) => (Array.isArray(block) ? block.map(([term]) => term.length) : []));
  return Math.max(0, ...lengths.filter((length) => length <= maxLength));
}

function blockLines(block: Block, indent: number, width: number, termWidth: number, style: Style): string[] {
  if (typeof block === 'string') return wrap(block, width - indent).map((line) => ' '.repeat(indent) + line);
  if (Array.isArray(block)) return rowLines(block, width, termWidth, style);
  if (isHeading(block)) return [style.heading(`${block.heading}:`)];
  const margin = ' '.repeat(INDENT);
  if ('usage' in block) return [margin + block.usage];
  return block.code.map((line) => margin + (line.startsWith('#') ? style.comment(line) : line));
}

function rowLines(rows: HelpRow[], width: number, termWidth: number, style: Style): string[] {
  const margin = ' '.repeat(INDENT);
  const hangingIndent = ' '.repeat(INDENT + termWidth + 2);
  return rows.flatMap(([term, text]) => {
    const lines = wrap(text, width - hangingIndent.length).map((line) => hangingIndent + line);
    const painted = margin + style.term(term);
    if (term.length > termWidth) return [painted, ...lines];
    const [first = '', ...more] = lines;
    return [painted + ' '.repeat(termWidth - term.length) + first.slice(margin.length + termWidth), ...more];
  });
}

/** Breaks a text at its spaces. A word longer than a line gets a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

/** Prints a help page, in the user's pager if it is longer than the terminal. The arguments may have --color and --no-pager. */
export async function showHelp(
  blocks: Block[],
  args: string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const io = createIo({ json: false, quiet: false, color: findColor(args), environment });
  const painted =
    (color: 'bold' | 'cyan' | 'dim') =>
    (text: string): string =>
      io.color ? paint(text, color) : text;
  const text = renderPage(blocks, {
    width: io.width,
    heading: painted('bold'),
    term: painted('cyan'),
    comment: painted('dim'),
  });
  if (!args.includes('--no-pager') && io.tty && text.split('\n').length > io.height) {
    const { pagerCommand, showInPager } = await import('../../exec/user-programs.ts');
    const pager = pagerCommand(environment);
    if (pager !== null && showInPager(text, pager, environment)) return;
  }
  io.out(text);
}

/** Finds --color in arguments that were not parsed. An invalid value counts as auto. */
function findColor(args: string[]): 'auto' | 'always' | 'never' {
  const at = args.indexOf('--color');
  const text = at === -1 ? args.find((arg) => arg.startsWith('--color='))?.slice(8) : args[at + 1];
  return text === 'always' || text === 'never' ? text : 'auto';
}
