import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { crashPoint, inSteps } from '../core/crash-point.ts';
import type { ClaimedJob } from '../core/jobs/job.ts';
import { signalNumber } from '../core/signals.ts';
import { type AttemptFiles, createOutput, streamFiles } from '../state/attempt-files.ts';
import { GATE_LOST_CODE, readRecord } from '../state/record.ts';
import { jobEnvironment, missingSecrets } from './environment.ts';
import { frameArguments, type UserSettings } from './frame.ts';
import type { Lifeline } from './lifeline.ts';
import { processes } from './processes.ts';

export type Start =
  /** The frame runs, and `pid` is its pid. */
  | { kind: 'started'; pid: number; exit: Promise<Exit> }
  /** The attempt has files, because another worker took over the attempt before its command could start. */
  | { kind: 'gate-lost' }
  /** The machine cannot run another process, or our files cannot be written. The same start may work later. */
  | { kind: 'no-room' }
  /** `mayStart` returned false. */
  | { kind: 'too-late' }
  /** The command cannot be started, for example because its working directory is missing. */
  | { kind: 'refused'; message: string };

/** How a command ended, or why its frame did not run it. */
export type Exit = ExitCode | 'gate-lost' | 'no-room';

export interface ExitCode {
  code: number;
  /** Whether the frame got a HUP, INT or TERM while the command ran. */
  signalled: boolean;
}

/** The interval between two checks whether the frame is gone, in case an exit event gets lost. */
const WATCHDOG_MS = 5000; // fault-control: watchdog
/** The signal by which a frame ends if its command exits with the code that has another meaning as that of the frame. */
const GATE_LOST_SIGNAL = 'SIGUSR1';
const NO_ROOM_ERRORS = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC']);

interface StartOptions {
  lifeline: Lifeline | null;
  /** Is called last, when the attempt has an output file. From then on, a guard can see the attempt and keep the command from starting. */
  mayStart?: () => boolean | Promise<boolean>;
}

/** Starts the job's command in a session of its own. The command writes its output directly to files. */
export async function startCommand(
  files: AttemptFiles,
  job: ClaimedJob,
  settings: UserSettings,
  { lifeline, mayStart = () => true }: StartOptions,
): Promise<Start> {
  const missing = missingDirectory(job.cwd) ?? missingVariable(job);
  if (missing !== null) return { kind: 'refused', message: missing };
  const opened: number[] = [];
  const remember = (file: number): number => {
    opened.push(file);
    return file;
  };
  try {
    let descriptors: { output: number; errors: number; input: number | 'ignore' };
    try {
      const output = createOutput(files);
      if (output === null) return { kind: 'gate-lost' };
      remember(output);
      const errors = job.splitOutput
        ? remember(openSync(streamFiles(files, 'stderr').output, 'ax', 0o600))
        : output;
      const input = job.stdin === null ? 'ignore' : remember(openStdin(files, job.stdin));
      descriptors = { output, errors, input };
    } catch {
      // Our own files cannot be written, which is not the fault of the job.
      return { kind: 'no-room' };
    }
    const { output, errors, input } = descriptors;
    const args = frameArguments({ ...job, ...settings, record: files.record, lifeline: lifeline?.name });
    crashPoint('before-spawn');
    if (!(await mayStart())) return { kind: 'too-late' };
    const ended = Promise.withResolvers<FrameEnd>();
    const options = {
      cwd: job.cwd,
      env: jobEnvironment(
        process.env,
        { ...job, cleanEnv: job.cleanEnv || settings.cleanEnv === true },
        files.cookie,
      ),
      stdio: [input, output, errors, ...(lifeline === null ? [] : [lifeline.fd])],
    };
    // A worker that leaves its jobs running must not wait for them. Its own timers keep it alive.
    const pid = await spawnDetached(['/bin/sh', ...args], options, (code, signal) =>
      ended.resolve({ code, signal }),
    );
    crashPoint('after-spawn');
    return { kind: 'started', pid, exit: untilExit(ended.promise, pid, files) };
  } catch (error) {
    return failedStart(error as NodeJS.ErrnoException);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Writes the standard input to a file, opens it and removes its name. A pipe would need a process that writes to it. */
function openStdin(files: AttemptFiles, text: string): number {
  inSteps('stdin', () => writeFileSync(files.stdin, text, { mode: 0o600, flag: 'wx' }));
  const file = openSync(files.stdin, 'r');
  unlinkSync(files.stdin);
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

function failedStart({ code, message }: NodeJS.ErrnoException): Start {
  if (NO_ROOM_ERRORS.has(code ?? '')) return { kind: 'no-room' };
  const hint = code === 'E2BIG' ? ' (command and environment are too long)' : '';
  return { kind: 'refused', message: `cannot start the command: ${code ?? message}${hint}` };
}

/** The end of a frame: its exit code, or the name of the signal that ended it. */
interface FrameEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

function untilExit(ended: Promise<FrameEnd>, pid: number, files: AttemptFiles): Promise<Exit> {
  return new Promise((resolve) => {
    let checksWithoutFrame = 0;
    const watchdog = setInterval(() => {
      checksWithoutFrame = processes.carries(pid, files.cookie) ? 0 : checksWithoutFrame + 1;
      // A command can overwrite its own record, so the record counts only when the frame is gone.
      if (checksWithoutFrame === 0) return;
      const isOver = readRecord(files)?.kind === 'ended';
      // If the frame was gone in two checks and left no exit code, it was killed.
      if (isOver || checksWithoutFrame === 2) finish(exitFor(files, null, 'SIGKILL'));
    }, WATCHDOG_MS);
    watchdog.unref();
    const finish = (exit: Exit): void => {
      clearInterval(watchdog);
      resolve(exit);
    };
    void ended.then(({ code, signal }) => {
      crashPoint('after-exit');
      finish(exitFor(files, code, signal ?? 'SIGKILL')); // fault-control: exit-event
    });
  });
}

/**
 * Returns what the end of the frame means. A frame that could not start a process notes that in the record and kills itself. A
 * frame that exits with 75 ran nothing. If a command exits with that code, the frame records it and ends by a signal. That signal
 * counts only if there is no record.
 */
function exitFor(files: AttemptFiles, code: number | null, signal: NodeJS.Signals): Exit {
  if (code === 0) return { code, signalled: false };
  const record = readRecord(files);
  const signalled = record?.kind === 'ended' && record.signalled;
  if (code === null) {
    if (record?.kind === 'ended') return record;
    if (record?.kind === 'gated') return 'no-room';
    const reportedCode = record === null && signal === GATE_LOST_SIGNAL ? GATE_LOST_CODE : undefined;
    // A signal that arrives before the frame traps it ends the frame before the gate.
    const passedGate = record !== null && record.kind !== 'empty';
    if (!passedGate && reportedCode === undefined && existsSync(files.output)) return 'no-room';
    return { code: reportedCode ?? 128 + signalNumber(signal), signalled };
  }
  if (code !== GATE_LOST_CODE) return { code, signalled };
  // If the frame could not create the record, and there is none or an empty one, the disk had no room for it.
  return record === null || record.kind === 'empty' ? 'no-room' : 'gate-lost';
}

export interface SpawnOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The descriptors 0, 1, 2 and so on of the program. `ignore` means /dev/null. */
  stdio: (number | 'ignore')[];
}

/** Is called when the program has ended, with its exit code or the name of the signal that ended it. */
export type OnExit = (code: number | null, signal: NodeJS.Signals | null) => void;

/** Starts a program in a session of its own, and does not keep this process alive for it. Returns its pid. Throws if it cannot be started. */
export const spawnDetached: (
  command: string[],
  options: SpawnOptions,
  onExit: OnExit,
) => number | Promise<number> = process.versions.bun === undefined ? spawnWithNode : spawnWithBun;

/** Uses the function of Bun, which takes less than half of the time that its node:child_process takes. */
function spawnWithBun(command: string[], options: SpawnOptions, onExit: OnExit): number {
  const child = Bun.spawn(command, {
    ...options,
    stdio: options.stdio as [number, number, number],
    detached: true,
    onExit: ({ exitCode, signalCode }) => onExit(exitCode, signalCode as NodeJS.Signals | null),
  });
  child.unref();
  return child.pid;
}

async function spawnWithNode(command: string[], options: SpawnOptions, onExit: OnExit): Promise<number> {
  const child = spawn(command[0]!, command.slice(1), { ...options, detached: true });
  if (child.pid === undefined) throw (await once(child, 'error'))[0];
  child.once('error', () => {});
  child.once('exit', onExit);
  child.unref();
  return child.pid;
}
