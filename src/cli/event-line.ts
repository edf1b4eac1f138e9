import { toEventObject } from '../core/event-object.ts';
import { EVENT_KINDS, type EventDetail, type EventKind, type StoreEvent } from '../core/events.ts';
import { toIso } from '../core/time.ts';
import type { Io } from './io.ts';
import { type Color, pad, paint, printable, STATE_COLORS } from './text.ts';

const WIDEST = Math.max(...EVENT_KINDS.map((kind) => kind.length));
const ID_WIDTH = 16;

/** A line for a person; for a script a JSON object a line. */
export function printEvent(io: Io, event: StoreEvent): void {
  io.out(`${io.tty && !io.json ? lineOf(io, event) : JSON.stringify(toEventObject(event))}\n`);
}

function lineOf(io: Io, { at, kind, actor, jobId, queue, attempt, detail }: StoreEvent): string {
  const color = colorOf(kind);
  const shown = pad(kind, WIDEST);
  const facts: string[] = [];
  for (const [name, value] of Object.entries<Value>({ queue, attempt, ...detail, by: actor })) {
    if (value !== null && value !== false) facts.push(`${name}=${quoted(value)}`);
  }
  const parts = [toIso(at), io.color && color ? paint(shown, color) : shown];
  return [...parts, pad(printable(jobId ?? '-'), ID_WIDTH), facts.join(' ')].join('  ');
}

type Value = EventDetail[string];

/** Text with blanks in it is quoted, so that one sees where it ends. */
function quoted(value: Value): string {
  const text = printable(String(value));
  return /[\s"]/.test(text) || text === '' ? `"${text.replaceAll('"', '\\"')}"` : text;
}

function colorOf(kind: EventKind): Color | undefined {
  return kind === 'started' ? STATE_COLORS.processing : STATE_COLORS[kind];
}
