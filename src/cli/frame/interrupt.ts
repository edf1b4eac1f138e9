import { getJob } from '../../actions/jobs/jobs.ts';
import { signalNumber } from '../../core/signals.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import type { Context } from './command.ts';

/** Is thrown when a signal asks this program to stop. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(signal);
    this.exitCode = 128 + signalNumber(signal);
  }
}

const SIGNALS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** Signals within this time count as one. `timeout`, for example, signals the process and then its group. */
const SAME_SIGNAL_MS = 200;

/** Calls `callback` on every Ctrl-C or SIGTERM, instead of ending the program. Returns a function that stops the calls. */
export function onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  const handle = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (now - lastAt < SAME_SIGNAL_MS) return;
    lastAt = now;
    callback(signal);
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return () => {
    for (const signal of SIGNALS) process.off(signal, handle);
  };
}

/** Resolves at the first Ctrl-C or SIGTERM. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stopListening = onInterrupt((signal) => {
      stopListening();
      resolve(signal);
    });
  });
}

/**
 * Runs work until it ends or a signal interrupts it. The first Ctrl-C or SIGTERM stops the work, and a second one ends the program
 * at once. Returns the exit code of the work (0 if it has none), or that of the signal.
 */
export async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<unknown>,
  onInterrupted?: () => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  const stopListening = onInterrupt((signal) => {
    if (!stop.signal.aborted) return stop.abort(new Interrupted(signal));
    stopListening();
    process.kill(process.pid, signal);
  });
  try {
    const code = await work(stop.signal);
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await onInterrupted?.();
    return error.exitCode;
  } finally {
    stopListening();
  }
}

/** Prints what the jobs do after the user stopped watching them. */
export async function noteJobsContinue({ io, app }: Context, ids: string[]): Promise<void> {
  if (io.quiet || io.json) return;
  // The terminal has printed ^C on this line.
  const lineBreak = io.tty ? '\n' : '';
  if (ids.length > 1)
    return io.err(`${lineBreak}the ${countOf(ids.length)} are not affected; to list them: queuectl list\n`);
  const { id, state } = await getJob(await app(), ids[0]!);
  io.err(
    `${lineBreak}job ${id} ${state === 'processing' ? 'keeps running' : `is ${state}`}; to follow it: queuectl logs -f ${shellWord(id)}\n`,
  );
}
