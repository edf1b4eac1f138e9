import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import type { ClaimedJob } from '../core/job.ts';
import { signalNumber } from '../core/signals.ts';
import { makePlace, outputIn, type Place } from '../state/place.ts';
import { GATE_LOST_CODE, NO_ROOM_CODE, readRecord } from '../state/record.ts';
import { jobEnvironment, missingSecrets } from './environment.ts';
import { frameArguments, type UserLimits } from './frame.ts';
import type { Lifeline } from './lifeline.ts';
import { processes } from './processes.ts';

/** How the start of a command went. */
export type Start =
  | { kind: 'started'; pid: number; exit: Promise<Exit> }
  /** Somebody else has its place: the attempt was given away before its command could start. */
  | { kind: 'gate-lost' }
  /** The machine has no room for a process now: the same start may work later. */
  | { kind: 'no-room'; message: string }
  | { kind: 'refused'; message: string };

export type Exit = ({ kind: 'code' } & ExitCode) | { kind: 'gate-lost' } | { kind: 'no-room' };

/** How a command ended. `signalled`: its frame got a HUP, INT or TERM while the command ran. */
export interface ExitCode {
  code: number;
  signalled: boolean;
}

/** Should an exit event ever get lost, a look at the record this often finds out. */
const WATCHDOG_MS = 5000; // fault-control: watchdog
const KILLED_CODE = 137;
/** What the frame says with a signal, because its own codes mean something else. */
const SIGNALLED_CODES: Record<string, number> = { SIGUSR1: GATE_LOST_CODE, SIGUSR2: NO_ROOM_CODE };
const NO_ROOM = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC']);

/** Starts the job's command in a session of its own, its output going straight into its file. */
export async function startCommand(
  place: Place,
  job: ClaimedJob,
  user: UserLimits,
  lifeline: Lifeline | null,
): Promise<Start> {
  const missing = missingDirectory(job.cwd) ?? missingVariable(job);
  if (missing !== null) return { kind: 'refused', message: missing };
  const opened: number[] = [];
  const keep = (file: number): number => {
    opened.push(file);
    return file;
  };
  try {
    let files: { output: number; errors: number; input: number | 'ignore' };
    try {
      if (!makePlace(place)) return { kind: 'gate-lost' }; // fault-control: gate-place
      crashPoint('before-output');
      const output = keep(openSync(place.output, 'ax', 0o600)); // fault-control: gate-output
      const errors = job.splitOutput
        ? keep(openSync(outputIn(place.directory, 'stderr').output, 'ax', 0o600))
        : output;
      files = { output, errors, input: job.stdin === null ? 'ignore' : keep(openStdin(place, job.stdin)) };
    } catch (error) {
      // Our own directory cannot be written: whatever the reason, it is no fault of the job.
      return { kind: 'no-room', message: failed(error as NodeJS.ErrnoException).message };
    }
    const { output, errors, input } = files;
    const args = frameArguments({
      ...job,
      ...user,
      record: place.record,
      lifeline: lifeline?.name,
    });
    crashPoint('before-spawn');
    const child = spawn('/bin/sh', args, {
      cwd: job.cwd,
      env: jobEnvironment(
        process.env,
        { ...job, cleanEnv: job.cleanEnv || user.cleanEnv === true },
        place.cookie,
      ),
      detached: true,
      stdio: [input, output, errors, ...(lifeline === null ? [] : [lifeline.file])],
    });
    crashPoint('after-spawn');
    // What keeps a worker alive are its own timers: leaving with jobs still running must not wait for them.
    child.unref();
    return await started(child, place);
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** A file, not a pipe: nobody has to feed it, or cares whether it is read. Open it needs no name, so none is left. */
function openStdin(place: Place, text: string): number {
  crashPoint('before-stdin');
  writeFileSync(place.stdin, text, { mode: 0o600, flag: 'wx' });
  crashPoint('after-stdin');
  const file = openSync(place.stdin, 'r');
  unlinkSync(place.stdin);
  return file;
}

function missingVariable(job: ClaimedJob): string | null {
  const [name] = missingSecrets(process.env, job);
  return name === undefined ? null : `secret variable ${name} is not in the worker's environment`;
}

function missingDirectory(cwd: string): string | null {
  try {
    return statSync(cwd).isDirectory() ? null : `working directory ${cwd} is not a directory`;
  } catch {
    return `working directory ${cwd} does not exist`;
  }
}

function started(child: ChildProcess, place: Place): Promise<Start> | Start {
  const { pid } = child;
  if (pid !== undefined) return { kind: 'started', pid, exit: exitOf(child, pid, place) };
  return new Promise((resolve) => child.once('error', (error) => resolve(failed(error))));
}

function failed(error: NodeJS.ErrnoException): Extract<Start, { message: string }> {
  const message = `cannot start the command: ${error.code ?? error.message}`;
  if (NO_ROOM.has(error.code ?? '')) return { kind: 'no-room', message };
  const hint = error.code === 'E2BIG' ? ' (command and environment are too long)' : '';
  return { kind: 'refused', message: message + hint };
}

function exitOf(child: ChildProcess, pid: number, place: Place): Promise<Exit> {
  return new Promise((resolve) => {
    let missing = 0;
    const watchdog = setInterval(() => {
      missing = processes.carries(pid, place.cookie) ? 0 : missing + 1;
      // A command can write its own record. Only that of a frame that is gone counts.
      if (missing === 0) return;
      const record = readRecord(place);
      if (record?.kind === 'ended')
        return finish({ kind: 'code', code: record.code, signalled: record.signalled });
      // Gone twice and no word of its end: it was killed.
      if (missing === 2) finish({ kind: 'code', code: KILLED_CODE, signalled: false });
    }, WATCHDOG_MS);
    watchdog.unref();
    const finish = (exit: Exit): void => {
      clearInterval(watchdog);
      resolve(exit);
    };
    child.once('error', () => {});
    child.once('exit', (code, signal) => {
      crashPoint('after-exit');
      finish(exitFor(place, code, signal ?? 'SIGKILL')); // fault-control: exit-event
    });
  });
}

/**
 * Returns what the frame's own end means. Its own codes say that it ran nothing: the record is only asked why. A command that
 * ends with one of them makes it end by a signal. While the record says that the command runs, somebody else has sent that.
 */
function exitFor(place: Place, code: number | null, signal: NodeJS.Signals): Exit {
  if (code === 0) return { kind: 'code', code, signalled: false };
  const record = readRecord(place);
  const signalled = record?.kind === 'ended' && record.signalled;
  if (code === null) {
    if (record?.kind === 'ended') return { kind: 'code', code: record.code, signalled };
    const meant = record === null ? SIGNALLED_CODES[signal] : undefined;
    // A signal that comes before the frame can trap it ends it before the gate.
    const gated = record !== null && record.kind !== 'empty';
    if (!gated && meant === undefined && existsSync(place.directory)) return { kind: 'no-room' };
    return { kind: 'code', code: meant ?? 128 + signalNumber(signal), signalled };
  }
  if (code !== GATE_LOST_CODE && code !== NO_ROOM_CODE) return { kind: 'code', code, signalled };
  // Without a record, or with an empty one, there was no room for it.
  const noRoom = code === NO_ROOM_CODE || record === null || record.kind === 'empty';
  return { kind: noRoom ? 'no-room' : 'gate-lost' };
}
