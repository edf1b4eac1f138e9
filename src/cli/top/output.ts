import type { Job } from '../../core/job.ts';
import { maskUrls } from '../../core/mask.ts';
import { displayWidth, printable, STATE_COLORS } from '../text.ts';
import type { Line } from './line.ts';

/** The output of a job, as far as it is kept for scrolling. */
export interface Output {
  id: string;
  job: Job | null;
  /** The number of the first line that is kept, counted from 0. */
  first: number;
  /** The lines, without control characters. */
  lines: string[];
  /** Describes how the job ended, or why following it failed. */
  note: string;
}

/** Draws the output of one job: its lines from `top` on, or the last lines if `top` is null. Long lines are wrapped. */
export function outputLines(output: Output, top: number | null, width: number, height: number): Line[] {
  const { id, job, first, lines } = output;
  const head: Line = [
    { text: `${id}  `, color: 'bold' },
    { text: job === null ? '' : `${job.state}  `, color: STATE_COLORS[job?.state ?? ''] },
    { text: job === null ? '' : printable(maskUrls(job.command)) },
  ];
  const room = Math.max(0, height - 1);
  const body = top === null ? fromEnd(lines, width, room) : fromTop(lines, top - first, width, room);
  if (lines.length === 0) body.push(output.note === '' ? '(no output yet)' : '(no output)');
  return [head, ...body.slice(0, room).map((text) => [{ text }])];
}

function fromTop(lines: string[], from: number, width: number, room: number): string[] {
  const shown: string[] = [];
  for (const line of lines.slice(Math.max(0, from), Math.max(0, from) + room))
    shown.push(...splitToWidth(line, width));
  return shown.slice(0, room);
}

function fromEnd(lines: string[], width: number, room: number): string[] {
  if (room === 0) return [];
  const shown = lines.slice(-room).flatMap((line) => splitToWidth(line, width));
  return shown.slice(-room);
}

/** Splits a line into pieces that fit the width. */
function splitToWidth(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    const wide = displayWidth(segment);
    if (used + wide > width) {
      pieces.push(piece);
      piece = '';
      used = 0;
    }
    piece += segment;
    used += wide;
  }
  return [...pieces, piece];
}

/** Describes the position in the output, for the last line of the screen. */
export function outputStatus({ first, lines, note }: Output, top: number | null): string {
  const where = top === null ? 'following' : `line ${top + 1} of ${first + lines.length}`;
  return [note, where].filter((text) => text !== '').join('; ');
}
