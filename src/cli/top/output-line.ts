import type { Erased, StyledText } from '../../core/output-text.ts';
import { characters, displayWidth } from '../text.ts';

/** A line of output. Its text may contain carriage returns and tabs, and some of its pieces may erase a part of it. */
export type OutputLine = StyledText[];

const TAB = 8;

/** Returns the line as a terminal shows it: text after a carriage return overwrites the text before it. */
export function renderLine(line: OutputLine): OutputLine {
  return line.some(({ text, erases }) => erases !== undefined || /[\r\t]/.test(text))
    ? joinCells(drawCells(line).cells)
    : line;
}

/** Returns a line that looks the same and has the same cursor position, without the text that was overwritten. */
export function compactLine(line: OutputLine): OutputLine {
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

/** Splits a text into the characters that a reader sees. For ASCII, the segmenter is not needed and would be slow. */
function segmentsOf(text: string): Iterable<string> {
  return /^[\0-\x7f]*$/.test(text) ? text : Array.from(characters(text), ({ segment }) => segment);
}

function joinCells(cells: StyledText[]): OutputLine {
  const line: OutputLine = [];
  for (const cell of cells) appendText(line, cell);
  return line;
}

/** Adds text to the end of a line. Neighbors in the same style are joined. */
export function appendText(line: OutputLine, piece: StyledText): void {
  const last = line.at(-1);
  const joins = last?.style === piece.style && last.erases === undefined && piece.erases === undefined;
  if (joins) last.text += piece.text;
  else line.push({ ...piece });
}

/** Splits a line without carriage returns and tabs into pieces that fit the width. */
export function splitToWidth(line: OutputLine, width: number): OutputLine[] {
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
