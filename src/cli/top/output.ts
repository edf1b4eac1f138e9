import type { App } from '../../actions/app.ts';
import { lookUpJob } from '../../actions/jobs/jobs.ts';
import { follow } from '../../actions/output/logs.ts';
import type { Job } from '../../core/jobs/job.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { type Erased, outputParser, type StyledText } from '../../core/text/output-text.ts';
import { describeAttemptEnd } from '../print/follow-job.ts';
import { characters, displayWidth, printable, STATE_COLORS } from '../print/text.ts';
import type { Line } from './line.ts';

/** A line of output. Its text may contain carriage returns and tabs, and some of its pieces may erase a part of it. */
export type OutputLine = StyledText[];

const TAB = 8;

/** Returns a line that looks the same and has the same cursor position, without the text that was overwritten. */
function compactLine(line: OutputLine): OutputLine {
  if (!line.some(({ text, erases }) => erases !== undefined || text.includes('\r'))) return line;
  const { cells, column } = drawCells(line);
  const shown = joinCells(cells);
  if (column === cells.length) return shown;
  return [...shown, { text: '\r', style: '' }, ...joinCells(cells.slice(0, column))];
}

/** Draws a line into cells, one for each column. The second cell of a wide character is empty. */
function drawCells(line: OutputLine): { cells: StyledText[]; column: number } {
  const cells: StyledText[] = [];
  let column = 0;
  for (const { text, style, erases } of line) {
    if (erases !== undefined) {
      eraseCells(cells, column, erases);
      continue;
    }
    for (const segment of segmentsOf(text)) {
      if (segment === '\r') column = 0;
      else if (segment === '\t') {
        // A tab moves the cursor and erases nothing.
        column += TAB - (column % TAB);
        while (cells.length < column) cells.push({ text: ' ', style: '' });
      } else {
        const end = column + displayWidth(segment);
        // If one half of a wide character is overwritten, the other half becomes a space.
        if (cells[column]?.text === '') cells[column - 1] = { ...cells[column - 1]!, text: ' ' };
        if (cells[end]?.text === '') cells[end] = { ...cells[end], text: ' ' };
        cells[column] = { text: segment, style };
        for (let rest = column + 1; rest < end; rest++) cells[rest] = { text: '', style };
        column = end;
      }
    }
  }
  return { cells, column };
}

/** Erases a part of a line. The cursor stays in its column. Half of a wide character that is erased becomes a space. */
function eraseCells(cells: StyledText[], column: number, part: Erased): void {
  const blank = { text: ' ', style: '' };
  if (part !== 'start') {
    if (cells[column]?.text === '') cells[column - 1] = blank;
    cells.length = Math.min(cells.length, column);
  }
  if (part === 'end') return;
  if (cells[column + 1]?.text === '') cells[column + 1] = blank;
  for (let at = 0; at <= column && at < cells.length; at++) cells[at] = blank;
}

/** Splits a text into the characters that a reader sees. ASCII does not need the segmenter. */
function segmentsOf(text: string): Iterable<string> {
  return /^[\0-\x7f]*$/.test(text) ? text : Array.from(characters(text), ({ segment }) => segment);
}

function joinCells(cells: StyledText[]): OutputLine {
  const line: OutputLine = [];
  for (const cell of cells) appendText(line, cell);
  return line;
}

/** Adds text to the end of a line. Neighbors in the same style are joined. */
function appendText(line: OutputLine, piece: StyledText): void {
  const last = line.at(-1);
  const joins = last?.style === piece.style && last.erases === undefined && piece.erases === undefined;
  if (joins) last.text += piece.text;
  else line.push({ ...piece });
}

/** Splits a line without carriage returns and tabs into pieces that fit the width. */
function splitToWidth(line: OutputLine, width: number): OutputLine[] {
  if (line.reduce((sum, { text }) => sum + displayWidth(text), 0) <= width) return [line];
  const pieces: OutputLine[] = [[]];
  let used = 0;
  for (const { text, style } of line)
    for (const segment of segmentsOf(text)) {
      const columns = displayWidth(segment);
      if (used + columns > width) {
        pieces.push([]);
        used = 0;
      }
      appendText(pieces.at(-1)!, { text: segment, style });
      used += columns;
    }
  return pieces;
}

/** The output of a job, as far as it is kept for scrolling. */
export interface Output {
  id: string;
  job: Job | null;
  /** The number of the first line that is kept, counted from 0. */
  first: number;
  lines: OutputLine[];
  /** Describes how the last attempt or the job ended, or why following failed. Empty before that. */
  note: string;
}

/** Draws the output of one job: its lines starting at number `top`, or the last lines if `top` is null. Long lines are wrapped. */
export function outputLines(output: Output, top: number | null, width: number, height: number): Line[] {
  const { id, job, first, lines } = output;
  const head: Line = [
    { text: `${id}  `, color: 'bold' },
    { text: job === null ? '' : `${job.state}  `, color: STATE_COLORS[job?.state ?? ''] },
    { text: job === null ? '' : printable(maskUrls(job.command)) },
  ];
  const room = Math.max(0, height - 1);
  const body = top === null ? fromEnd(lines, width, room) : fromTop(lines, top - first, width, room);
  if (lines.length === 0) body.push([{ text: output.note === '' ? '(no output yet)' : '(no output)' }]);
  return [head, ...body.slice(0, room)];
}

function fromTop(lines: OutputLine[], from: number, width: number, room: number): Line[] {
  const shown: Line[] = [];
  for (let at = Math.max(0, from); at < lines.length && shown.length < room; at++)
    shown.push(...wrapLine(lines[at]!, width).slice(0, room));
  return shown.slice(0, room);
}

function fromEnd(lines: OutputLine[], width: number, room: number): Line[] {
  const shown: Line[] = [];
  for (let at = lines.length - 1; at >= 0 && shown.length < room; at--)
    shown.unshift(...wrapLine(lines[at]!, width).slice(-room));
  return shown.slice(Math.max(0, shown.length - room));
}

/** Returns the line as a terminal shows it, in pieces that fit the width. Text after a carriage return overwrites the text before it. */
function wrapLine(line: OutputLine, width: number): Line[] {
  const isPlain = line.every(({ text, erases }) => erases === undefined && !/[\r\t]/.test(text));
  return splitToWidth(isPlain ? line : joinCells(drawCells(line).cells), width);
}

/** Returns the note and the position in the output, for the last line of the screen. */
export function outputStatus({ first, lines, note }: Output, top: number | null): string {
  const where = top === null ? 'following' : `line ${top + 1} of ${first + lines.length}`;
  return [note, where].filter((text) => text !== '').join('; ');
}

/** The number of lines that are kept for scrolling. `queuectl logs` prints all lines. */
const KEPT_LINES = 5000;
/** A line with more visible characters than this continues on a new line. */
const MAX_LINE = 10_000;

/** Collects the output of a job until the job ends, including the output so far. */
export function startFollower(app: App, id: string, changed: () => void) {
  const output: Output = { id, job: null, first: 0, lines: [], note: '' };
  const stop = new AbortController();
  const lines = lineCollector(output);
  const reader = outputParser();
  const refresh = async (from: App): Promise<void> => {
    // A job that was deleted meanwhile keeps its last state.
    output.job = (await lookUpJob(from, id)) ?? output.job;
  };
  const run = async (): Promise<void> => {
    await refresh(app);
    const options = { ordinal: null, only: null, lines: KEPT_LINES, timeoutMs: null, signal: stop.signal };
    for await (const seen of follow(app, id, options)) {
      if (seen.kind === 'output') lines.add(reader.read(seen.data));
      else {
        lines.add(reader.end());
        lines.end();
        output.note = describeAttemptEnd(seen.attempt, seen.job, app.clock.now());
      }
      changed();
    }
    await refresh(app);
    if (output.note === '') output.note = `job ${id} is ${output.job?.state}`;
  };
  const onError = (error: Error): void => {
    output.note = error.message;
  };
  run().catch(onError).finally(changed);
  return { output, refresh, stop: (): void => stop.abort(new Error('no longer followed')) };
}

/** Splits text into lines and adds them to the output. The last line may still grow, until `end` is called. */
export function lineCollector(output: Output) {
  let open: OutputLine | null = null;
  const addToLine = (piece: StyledText): void => {
    if (open === null) {
      open = [];
      output.lines.push(open);
    }
    appendText(open, piece);
  };
  const dropOverwritten = (line: OutputLine): void => {
    if (lengthOf(line) <= MAX_LINE) return;
    const compact = compactLine(line);
    output.lines[output.lines.length - 1] = compact;
    open = lengthOf(compact) > MAX_LINE ? null : compact;
  };
  return {
    add(pieces: StyledText[]): void {
      for (const piece of pieces)
        for (const [token] of piece.text.matchAll(/\n|[^\n]+/g)) {
          if (token !== '\n') addToLine({ ...piece, text: token });
          else if (open === null) output.lines.push([]);
          else open = null;
        }
      // A progress bar overwrites its line again and again, so the text that is no longer visible is dropped.
      if (open !== null) dropOverwritten(open);
      const over = output.lines.length - KEPT_LINES;
      if (over > 0) {
        output.lines.splice(0, over);
        output.first += over;
      }
    },
    end(): void {
      open = null;
    },
  };
}

function lengthOf(line: OutputLine): number {
  return line.reduce((sum, { text }) => sum + text.length, 0);
}
