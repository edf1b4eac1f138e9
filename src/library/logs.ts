import type { App } from '../actions/app.ts';
import { follow, readLogs } from '../actions/output/logs.ts';
import { invalidValue, QueueError } from '../core/errors.ts';
import type { Stream } from '../core/jobs/job.ts';
import { lastLines } from '../core/text/last-lines.ts';
import {
  abortSignal,
  closedError,
  count,
  eitherSignal,
  flag,
  jobIds,
  type LibraryQueue,
  readOptions,
  text,
  wholeNumber,
} from './options.ts';
import type { Queue } from './types.ts';

type LogRequest = ReturnType<typeof readLogOptions>;

/** Returns the method `logs` of a queue, which reads the output or, with `follow`, yields it. */
export function logsOf(queue: LibraryQueue): Queue['logs'] {
  const logs = (id: string, options?: unknown): Promise<string> | AsyncIterable<string> =>
    (options as { follow?: unknown } | undefined)?.follow === true
      ? followText(queue, id, options)
      : readText(queue, id, options);
  return logs as Queue['logs'];
}

async function readText(queue: LibraryQueue, id: string, options: unknown): Promise<string> {
  const app = queue.app();
  const { ordinal, only, lines } = readLogOptions(options);
  const { streams } = await readLogs(app, jobIds([id])[0]!, ordinal, only);
  const texts = streams.map(({ pieces }) => {
    const decoder = new TextDecoder();
    let output = '';
    for (const piece of lines === null ? pieces : [lastLines(pieces, lines)])
      output += decoder.decode(piece, { stream: true });
    return output + decoder.decode();
  });
  return texts.join('');
}

async function* followText(queue: LibraryQueue, id: string, options: unknown): AsyncGenerator<string> {
  const app = queue.app();
  const { signal, ...request } = readLogOptions(options);
  signal?.throwIfAborted();
  try {
    yield* followJob(app, jobIds([id])[0]!, request, eitherSignal(queue.closed, signal));
  } catch (error) {
    // A read of the closed store may fail before the signal is noticed.
    throw queue.closed.aborted ? closedError() : error;
  }
}

async function* followJob(
  app: App,
  id: string,
  request: Omit<LogRequest, 'signal'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // A character may be split between two pieces of a stream, but not between two attempts.
  const decoders = new Map<Stream, TextDecoder>();
  for await (const item of follow(app, id, { ...request, signal, timeoutMs: null })) {
    if (item.kind === 'output') {
      const decoder = decoders.get(item.stream) ?? new TextDecoder();
      decoders.set(item.stream, decoder);
      const output = decoder.decode(item.data, { stream: true });
      if (output !== '') yield output;
    } else {
      const rest = [...decoders.values()].map((decoder) => decoder.decode()).join('');
      decoders.clear();
      if (rest !== '') yield rest;
    }
  }
}

function readLogOptions(options: unknown) {
  const given = readOptions(options, 'logs()', {
    attempt: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    stream,
    lines: count,
    follow: flag,
    signal: abortSignal,
  });
  if (given.signal !== undefined && given.follow !== true)
    throw new QueueError('usage', 'logs() takes a signal only with follow: true');
  const { attempt: ordinal = null, stream: only = null, lines = null, signal } = given;
  return { ordinal, only, lines, signal };
}

function stream(value: unknown, name: string): Stream {
  if (value === 'stdout' || value === 'stderr') return value;
  throw invalidValue(`${name} must be stdout or stderr, not '${text(value, name)}'`);
}
