import type { App } from '../../actions/app.ts';
import { follow } from '../../actions/follow.ts';
import { lookUpJob } from '../../actions/jobs.ts';
import { outputParser, type StyledText } from '../../core/output-text.ts';
import { describeAttemptEnd } from '../follow-job.ts';
import type { Output } from './output.ts';
import { appendText, compactLine, type OutputLine } from './output-line.ts';

/** The number of lines that are kept for scrolling. `queuectl logs` prints all lines. */
const KEPT_LINES = 5000;
/** A line with more visible characters than this continues on a new line. */
const MAX_LINE = 10_000;

export interface Follower {
  readonly output: Output;
  refresh(app: App): Promise<void>;
  stop(): void;
}

/** Collects the output of a job until the job ends, including the output so far. */
export function startFollower(app: App, id: string, changed: () => void): Follower {
  const output: Output = { id, job: null, first: 0, lines: [], note: '' };
  const stop = new AbortController();
  const lines = lineCollector(output);
  const reader = outputParser();
  const refresh = async (from: App): Promise<void> => {
    // A job that was deleted meanwhile keeps its last state.
    output.job = (await lookUpJob(from, id)) ?? output.job;
  };
  const run = async (): Promise<void> => {
    await refresh(app);
    const options = { ordinal: null, only: null, lines: KEPT_LINES, timeoutMs: null, signal: stop.signal };
    for await (const seen of follow(app, id, options)) {
      if (seen.kind === 'output') lines.add(reader.read(seen.data));
      else {
        lines.add(reader.end());
        lines.end();
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

export interface LineCollector {
  /** Adds text as it arrives. The last line may still grow. */
  add(pieces: StyledText[]): void;
  /** Ends the last line. */
  end(): void;
}

/** Splits text into lines and adds them to the output. */
export function lineCollector(output: Output): LineCollector {
  let open: OutputLine | null = null;
  const addToLine = (piece: StyledText): void => {
    if (open === null) {
      open = [];
      output.lines.push(open);
    }
    appendText(open, piece);
  };
  const dropOverwritten = (line: OutputLine): void => {
    if (lengthOf(line) <= MAX_LINE) return;
    const compact = compactLine(line);
    output.lines[output.lines.length - 1] = compact;
    open = lengthOf(compact) > MAX_LINE ? null : compact;
  };
  return {
    add(pieces) {
      for (const piece of pieces)
        for (const [token] of piece.text.matchAll(/\n|[^\n]+/g)) {
          if (token !== '\n') addToLine({ ...piece, text: token });
          else if (open === null) output.lines.push([]);
          else open = null;
        }
      // A progress bar overwrites its line again and again, so the text that is no longer visible is dropped.
      if (open !== null) dropOverwritten(open);
      const over = output.lines.length - KEPT_LINES;
      if (over > 0) {
        output.lines.splice(0, over);
        output.first += over;
      }
    },
    end() {
      open = null;
    },
  };
}

function lengthOf(line: OutputLine): number {
  return line.reduce((sum, { text }) => sum + text.length, 0);
}
