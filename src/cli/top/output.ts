import type { Job } from '../../core/job.ts';
import { maskUrls } from '../../core/mask.ts';
import { printable, STATE_COLORS } from '../text.ts';
import type { Line } from './line.ts';
import { type OutputLine, renderLine, splitToWidth } from './output-line.ts';

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

function wrapLine(line: OutputLine, width: number): Line[] {
  return splitToWidth(renderLine(line), width);
}

/** Returns the note and the position in the output, for the last line of the screen. */
export function outputStatus({ first, lines, note }: Output, top: number | null): string {
  const where = top === null ? 'following' : `line ${top + 1} of ${first + lines.length}`;
  return [note, where].filter((text) => text !== '').join('; ');
}
