import { signal } from '@preact/signals';
import { call, part } from '../frame/api.ts';
import { afterNewline, createCounter, createCutter, type Line, textOf } from './output-lines.ts';

const CHUNK = 256 * 1024;
const LARGE_CHUNK = 4 * 1024 * 1024;
/** This many lines are kept, however long the output is. */
const MOST_LINES = 20_000;
/** The first error is searched for in this many bytes. */
export const LOOKED_AT = 64 * 1024 * 1024;
/** If the end is further away than this, following jumps to it. */
const TOO_FAR = 1024 * 1024;

interface Range {
  bytes: Uint8Array;
  from: number;
  next: number;
  size: number;
  over: boolean;
  truncated: boolean;
}

/** Tells whether bytes were left out. Then the range has a line in their place. */
const isGap = ({ from, next, bytes }: Range): boolean => next - from !== bytes.length;

/** A window onto the output of one attempt, which holds a part of its lines. */
export type OutputWindow = ReturnType<typeof openOutput>;

export function openOutput(id: string, attempt: number, stream: string | null) {
  const lines = signal<Line[]>([]);
  const state = signal({ from: 0, next: 0, size: 0, over: false, truncated: false });
  const stop = new AbortController();
  let cutter = createCutter(0, 1);
  let whole: Line[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  /** Makes a move wait for the one before it. Each reads where the window is, and changes it after the answer of the server. */
  const inTurn =
    <A extends unknown[], T>(move: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> => {
      const moved = turn.then(() => move(...args));
      turn = moved.catch(() => {});
      return moved;
    };

  const read = async (from: number, limit = CHUNK): Promise<Range> => {
    const path = `/jobs/${part(id)}/output?attempt=${attempt}&from=${from}&limit=${limit}${stream === null ? '' : `&stream=${stream}`}`;
    const response = await call('GET', path, { signal: stop.signal });
    const header = (name: string): string => response.headers.get(`queuectl-${name}`) ?? '';
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      from: Number(header('from')),
      next: Number(header('next')),
      size: Number(header('size')),
      over: header('over') === 'true',
      truncated: header('truncated') === 'true',
    };
  };

  const show = (range: Omit<Range, 'bytes' | 'from'>): void => {
    const { next, size, over, truncated } = range;
    const open = cutter.open();
    lines.value = open === null ? whole : [...whole, open];
    state.value = { from: lines.value[0]?.offset ?? next, next, size, over, truncated };
  };

  /** Drops the last lines over the limit. Returns the offset at which reading continues. */
  const keepHead = (next: number): number => {
    const dropped = whole[MOST_LINES];
    if (dropped === undefined) return next;
    whole = whole.slice(0, MOST_LINES);
    cutter = createCutter(dropped.offset, dropped.number);
    return dropped.offset;
  };

  /** Starts again at an offset, which is that of line `number`. A negative offset counts from the end. */
  const openAt = async (where: number, number: number | null = null): Promise<void> => {
    const range = await read(where);
    const cutAway = where < 0 && range.from > 0 && !isGap(range) ? afterNewline(range.bytes) : 0;
    cutter = createCutter(range.from + cutAway, range.from === 0 ? 1 : number);
    whole = cutter.add(range.bytes.subarray(cutAway));
    if (isGap(range)) cutter = createCutter(range.next, null);
    if (where < 0) whole = whole.slice(-MOST_LINES);
    show({ ...range, next: where < 0 ? range.next : keepHead(range.next) });
  };

  /** Reads on at the end. Returns how many lines were dropped at the beginning. */
  const newer = async (): Promise<number> => {
    const range = await read(state.value.next);
    const all = [...whole, ...cutter.add(range.bytes)];
    // Bytes were left out here, so the next line numbers are unknown.
    if (isGap(range)) cutter = createCutter(range.next, null);
    whole = all.slice(-MOST_LINES);
    show(range);
    return all.length - whole.length;
  };

  /** Reads the lines between two offsets. A gap between them is one line. The first line is left out if it is incomplete. */
  const linesBetween = async (from: number, to: number): Promise<Line[]> => {
    const found: Line[] = [];
    for (let at = from; at < to; ) {
      const range = await read(at, to - at);
      if (range.bytes.length === 0) break;
      const cutAway = at > from || isGap(range) || range.from === 0 ? 0 : afterNewline(range.bytes);
      const part = createCutter(range.from + cutAway, range.from === 0 ? 1 : null);
      found.push(...part.add(range.bytes.subarray(cutAway)));
      const open = part.open();
      if (open !== null && range.next < to) found.push(open);
      at = range.next;
    }
    return found;
  };

  /** Reads back at the beginning. Returns how many lines were added. */
  const older = async (): Promise<number> => {
    const before = state.value.from;
    if (before === 0) return 0;
    const added = await linesBetween(Math.max(0, before - CHUNK), before);
    whole = [...added, ...whole];
    show({ ...state.value, next: keepHead(state.value.next) });
    return added.length;
  };

  return {
    lines,
    state,
    openAt: inTurn(openAt),
    newer: inTurn(newer),
    older: inTurn(older),
    /** Moves to the end, in one jump if it is far away. */
    follow: inTurn(async (): Promise<void> => {
      const { next, size } = state.value;
      if (size - next <= TOO_FAR) await newer();
      else await openAt(-CHUNK);
    }),
    openEnd: inTurn(() => openAt(-CHUNK)),
    /** Moves to a line, counting from the first one. Returns false if there is no such line. */
    openLine: inTurn(async (wanted: number): Promise<boolean> => {
      const count = createCounter(wanted);
      for (let from = 0; ; ) {
        const range = await read(from, LARGE_CHUNK);
        const found = count(range.bytes);
        if (found !== null) await openAt(found.offset, found.number);
        if (found !== null) return true;
        from = range.next;
        // Lines after bytes that were left out cannot be counted.
        if (isGap(range) || range.bytes.length === 0 || from >= range.size) return false;
      }
    }),
    /** Moves to the first line that matches. Returns null if there is none within the limit. */
    openFirst: inTurn(async (like: RegExp): Promise<Line | null> => {
      await openAt(0);
      for (let looked = 0; ; ) {
        const found = lines.value.slice(looked).find((line) => like.test(textOf(line)));
        if (found !== undefined) return found;
        const { next, size } = state.value;
        if (next >= size || next >= LOOKED_AT) return null;
        looked = lines.value.length - (await newer()) - 1;
        if (looked < 0) looked = 0;
      }
    }),
    async download(progress: (part: number) => void): Promise<Blob> {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for (let from = 0; ; ) {
        const range = await read(from, LARGE_CHUNK);
        parts.push(range.bytes as Uint8Array<ArrayBuffer>);
        from = range.next;
        progress(range.size === 0 ? 1 : from / range.size);
        if (range.bytes.length === 0 || from >= range.size) return new Blob(parts, { type: 'text/plain' });
      }
    },
    end: () => stop.abort(),
  };
}
