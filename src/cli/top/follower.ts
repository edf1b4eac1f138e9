import type { App } from '../../actions/app.ts';
import { follow } from '../../actions/follow.ts';
import { lookUpJob } from '../../actions/jobs.ts';
import { describeAttemptEnd } from '../follow-job.ts';
import type { Io } from '../io.ts';
import { outputPrinter } from '../output-printer.ts';
import type { Output } from './output.ts';

/** The number of lines that are kept for scrolling. `queuectl logs` prints the rest. */
const KEPT_LINES = 5000;
const MAX_LINE = 10_000;
const TAB = 8;

export interface Follower {
  readonly output: Output;
  /** Reads the state of the job again. */
  refresh(app: App): Promise<void>;
  stop(): void;
}

/** Collects the output of a job until the job ends, including the output so far. */
export function startFollower(app: App, io: Io, id: string, changed: () => void): Follower {
  const output: Output = { id, job: null, first: 0, lines: [], note: '' };
  const stop = new AbortController();
  const add = lineCollector(output);
  // The printer of `logs` escapes control characters, so that its text is safe to draw.
  const printer = outputPrinter({ ...io, tty: true, out: add }, false);
  const refresh = async (from: App): Promise<void> => {
    // A job that was deleted meanwhile keeps its last state.
    output.job = (await lookUpJob(from, id)) ?? output.job;
  };
  const run = async (): Promise<void> => {
    await refresh(app);
    const options = { ordinal: null, only: null, lines: KEPT_LINES, timeoutMs: null, signal: stop.signal };
    for await (const seen of follow(app, id, options)) {
      if (seen.kind === 'output') printer.print(seen.data);
      else {
        printer.end();
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
  return { output, refresh, stop: () => stop.abort(new Error('no longer followed')) };
}

/** Returns a function that splits text into lines as it arrives. The last line may still grow. */
export function lineCollector(output: Output): (text: string) => void {
  let whole = true;
  return (text) => {
    const grown = whole ? '' : (output.lines.pop() ?? '');
    const lines = (grown + text).split('\n').map(expandTabs);
    const last = lines.pop()!;
    whole = last === '' || last.length > MAX_LINE;
    output.lines.push(...lines, ...(last === '' ? [] : [last]));
    const over = output.lines.length - KEPT_LINES;
    if (over > 0) {
      output.lines.splice(0, over);
      output.first += over;
    }
  };
}

function expandTabs(line: string): string {
  return line.split('\t').reduce((text, part) => text + ' '.repeat(TAB - (text.length % TAB)) + part);
}
