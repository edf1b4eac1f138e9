import { toEventObject } from '../core/event-object.ts';
import { EVENT_KINDS, type EventDetail, type StoreEvent } from '../core/events.ts';
import { maskUrls } from '../core/mask.ts';
import { pairValue } from '../core/printable.ts';
import { toIso } from '../core/time.ts';
import type { Io } from './io.ts';
import { jsonText } from './layout.ts';
import { headerLine, type Listing, lineFormatter } from './print-list.ts';
import { isAligned } from './table.ts';
import { cut, displayWidth, pad, paint, printable, STATE_COLORS } from './text.ts';
import { timesFor } from './times.ts';

const KIND_WIDTH = Math.max(...EVENT_KINDS.map((kind) => kind.length));
const ID_WIDTH = 16;

/** The fields that only some kinds of events have. */
export const EVENT_DETAIL_FIELDS =
  `outcome exit_code error next_run_at reason fields schedule scheduled_at manual waits key
  value worker_id pid hostname concurrency queues labels rate priority_aging_ms state jobs bytes
  operation action changed`.split(/\s+/);

/** Prints each event as it arrives: in words on a terminal, as a line of JSON in a pipe, or in the format of --format. */
export async function printEvents(io: Io, events: AsyncIterable<StoreEvent>): Promise<void> {
  const { format } = io.layout;
  const inWords = isAligned(io) && !io.json;
  const asJson = format === null || format === 'json' || format === 'jsonl';
  if (!asJson) io.out(headerLine(io, EVENT_LIST.columns(timesFor(io, Date.now()))));
  for await (const event of events) {
    if (inWords) io.out(`${eventText(io, event)}\n`);
    else if (asJson) io.out(`${jsonText(io, toEventObject(event))}\n`);
    // A relative time depends on the current time, so each event needs a new formatter.
    else io.out(`${await lineFormatter(io, EVENT_LIST, Date.now())(event)}\n`);
  }
}

const EVENT_LIST: Listing<StoreEvent> = {
  columns: (times) => [
    { title: 'NUMBER', value: (event) => String(event.number) },
    { title: 'AT', value: (event) => times.text(event.at) },
    { title: 'KIND', value: (event) => event.kind },
    { title: 'ACTOR', value: (event) => event.actor ?? '' },
    { title: 'JOB', value: (event) => event.jobId ?? '' },
    { title: 'QUEUE', value: (event) => event.queue ?? '' },
    { title: 'ATTEMPT', value: (event) => String(event.attempt ?? '') },
    { title: 'DETAIL', value: (event) => JSON.stringify(event.detail) },
  ],
  id: (event) => String(event.number),
  object: toEventObject,
};

function eventText(io: Io, { at, kind, actor, jobId, queue, attempt, detail }: StoreEvent): string {
  const color = STATE_COLORS[kind === 'started' ? 'processing' : kind];
  const facts: string[] = [];
  for (const [name, value] of Object.entries<EventDetail[string]>({ queue, attempt, ...detail, by: actor })) {
    if (value !== null && value !== false) facts.push(`${name}=${pairValue(maskUrls(String(value)))}`);
  }
  // The line stays on the screen, where a relative time would soon be wrong. So times are absolute without --time.
  const when = io.layout.time === null && !io.layout.utc ? toIso(at) : timesFor(io, Date.now()).text(at);
  const id = pad(printable(jobId ?? '-'), ID_WIDTH);
  const room = io.layout.wide ? Number.POSITIVE_INFINITY : io.width;
  const head = `${when}  ${pad(kind, KIND_WIDTH)}  ${id}`;
  const line = `${head}  ${facts.join(' ')}`;
  let lines = [line];
  if (displayWidth(head) > room)
    lines = [`${when}  ${kind}`, ...packIntoLines([id.trimEnd(), ...facts], room - INDENT.length)];
  else if (displayWidth(line) > room) lines = [head, ...packIntoLines(facts, room - INDENT.length)];
  const text = lines.map((part, i) => (i === 0 ? part : INDENT + part).trimEnd()).join('\n');
  return io.color && color ? text.replace(kind, (word) => paint(word, color)) : text;
}

const INDENT = '    ';

/** Distributes facts over lines. A fact that is wider than a line is cut. */
function packIntoLines(facts: string[], room: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const longer = lines.length === 0 ? fact : `${lines.at(-1)} ${fact}`;
    if (lines.length > 0 && displayWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(cut(fact, room));
  }
  return lines;
}
