import type { App } from '../actions/app.ts';
import { follow } from '../actions/follow.ts';
import { readLogs } from '../actions/logs.ts';
import { QueueError } from '../core/errors.ts';
import type { Stream } from '../core/job.ts';
import { lastLines } from '../core/last-lines.ts';
import { closedError, firstOf, type OpenQueue } from './open-queue.ts';
import { abortSignal, count, flag, jobIds, readOptions, text, wholeNumber } from './options.ts';
import type { Queue } from './types.ts';

interface Wanted {
  ordinal: number | null;
  only: Stream | null;
  lines: number | null;
  signal: AbortSignal | undefined;
}

export function logsOf(queue: OpenQueue): Queue['logs'] {
  const logs = (id: string, options?: unknown): Promise<string> | AsyncIterable<string> =>
    (options as { follow?: unknown } | undefined)?.follow === true
      ? followed(queue, id, options)
      : textOf(queue, id, options);
  return logs as Queue['logs'];
}

async function textOf(queue: OpenQueue, id: string, options: unknown): Promise<string> {
  const app = queue.app();
  const { ordinal, only, lines } = read(options);
  const { streams } = await readLogs(app, jobIds([id])[0]!, ordinal, only);
  const texts = streams.map(({ pieces }) => {
    const decoder = new TextDecoder();
    let all = '';
    for (const piece of lines === null ? pieces : [lastLines(pieces, lines)])
      all += decoder.decode(piece, { stream: true });
    return all + decoder.decode();
  });
  return texts.join('');
}

async function* followed(queue: OpenQueue, id: string, options: unknown): AsyncGenerator<string> {
  const app = queue.app();
  const { signal, ...wanted } = read(options);
  signal?.throwIfAborted();
  try {
    yield* textsOf(app, jobIds([id])[0]!, wanted, firstOf(queue.closed, signal));
  } catch (error) {
    // The closed store may have been noticed before the signal.
    throw queue.closed.aborted ? closedError() : error;
  }
}

async function* textsOf(
  app: App,
  id: string,
  wanted: Omit<Wanted, 'signal'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // A character may be split between two pieces of a stream, but not between two attempts.
  const decoders = new Map<Stream, TextDecoder>();
  for await (const seen of follow(app, id, { ...wanted, signal, timeoutMs: null })) {
    if (seen.kind === 'output') {
      const decoder = decoders.get(seen.stream) ?? new TextDecoder();
      decoders.set(seen.stream, decoder);
      const output = decoder.decode(seen.data, { stream: true });
      if (output !== '') yield output;
    } else {
      const rest = [...decoders.values()].map((decoder) => decoder.decode()).join('');
      decoders.clear();
      if (rest !== '') yield rest;
    }
  }
}

function read(options: unknown): Wanted {
  const given = readOptions(options, 'logs()', {
    attempt: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    stream,
    lines: count,
    follow: flag,
    signal: abortSignal,
  });
  if (given.signal !== undefined && given.follow !== true)
    throw new QueueError('usage', 'logs() takes a signal only with follow: true');
  return {
    ordinal: given.attempt ?? null,
    only: given.stream ?? null,
    lines: given.lines ?? null,
    signal: given.signal,
  };
}

function stream(value: unknown, name: string): Stream {
  if (value === 'stdout' || value === 'stderr') return value;
  throw new QueueError('invalid-value', `${name} must be stdout or stderr, not '${text(value, name)}'`);
}
