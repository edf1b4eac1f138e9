import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { killSurvivors } from './processes.ts';
import { type MakeSandboxStore, makeSandboxStore } from './sandbox-store.ts';

export const EXECUTABLE = resolve(import.meta.dir, '../../dist/queuectl');

/** The default time limit of inSandbox(). */
const BODY_LIMIT_MS = 90_000;

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * A store of its own, used through the built executable as a user would. It is a file in the directory of the sandbox, or a
 * schema of PostgreSQL if QUEUECTL_TEST_STORE is `postgres`.
 */
export interface Sandbox {
  /** The directory in which commands run. */
  directory: string;
  /** The value of QUEUECTL_HOME. */
  home: string;
  /** The variables with which any command uses this store. run() and start() add them by themselves. */
  environment: Record<string, string>;
  /** Returns the path of the state directory. On PostgreSQL, it has a name only after the store was created. */
  stateDirectory(): string;
  /** Creates an empty store. Commands that only read create none. */
  create(): Promise<void>;
  /** Runs a command to its end. */
  run(args: string[], options?: RunOptions): Promise<Result>;
  /** Runs a command with --json and parses its output. Throws if it does not exit with 0. */
  json<T = unknown>(args: string[]): Promise<T>;
  /** Starts a command and leaves it running. cleanup() kills it if it still runs. */
  start(args: string[], options?: RunOptions): Running;
  /** Starts workers in the foreground and resolves when they are ready. */
  startWorkers(...args: string[]): Promise<Running>;
  /** Ends all processes of the sandbox and removes its directory and its store. */
  cleanup(): Promise<void>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  keepStdinOpen?: boolean;
  /** A program that ends by executing queuectl, such as nohup, with its arguments. */
  through?: string[];
}

export interface Running {
  child: ChildProcess;
  pid: number;
  /** Returns everything that the command has written so far to stdout and stderr. */
  output(): string;
  /** Returns what the command has written to stdout so far. */
  stdout(): string;
  /** Resolves with the exit code when the command exits, or with -1 if a signal ended it. */
  exit: Promise<number>;
  /** Resolves like `exit`, but after all output has been read. */
  closed: Promise<number>;
}

export function sandbox(
  through: string[] = [],
  program = EXECUTABLE,
  makeStore: MakeSandboxStore = makeSandboxStore,
): Sandbox {
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-test-'));
  const home = join(directory, 'home');
  const store = makeStore(home);
  const running: Running[] = [];

  const commandLine = (args: string[], options: RunOptions): [string, string[]] => {
    const [first, ...rest] = [...(options.through ?? through), program, ...args];
    return [first!, rest];
  };

  // queuectl asks no questions if CI is set. Clearing it makes the tests behave the same everywhere.
  const environment = (options: RunOptions) => ({
    ...process.env,
    CI: '',
    ...store.environment,
    ...options.env,
  });

  const start = (args: string[], options: RunOptions = {}): Running => {
    const env = environment(options);
    const child = spawn(...commandLine(args, options), {
      cwd: options.cwd ?? directory,
      env,
      stdio: 'pipe',
      detached: true,
    });
    if (!options.keepStdinOpen) child.stdin.end(options.stdin ?? '');
    let output = '';
    let stdout = '';
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (data) => {
        output += data;
      });
    }
    const exit = new Promise<number>((done) =>
      child.once('exit', (code, signal) => done(code ?? (signal ? -1 : -2))),
    );
    const closed = new Promise<number>((done) => child.once('close', async () => done(await exit)));
    const command = { child, pid: child.pid!, output: () => output, stdout: () => stdout, exit, closed };
    running.push(command);
    return command;
  };

  const run = (args: string[], options: RunOptions = {}): Promise<Result> =>
    new Promise((done, fail) => {
      const env = environment(options);
      const cwd = options.cwd ?? directory;
      const child = spawn(...commandLine(args, options), { cwd, env, stdio: 'pipe' });
      const result: Result = { code: -1, stdout: '', stderr: '' };
      child.stdout.setEncoding('utf8');
      child.stderr.setEncoding('utf8');
      child.stdout.on('data', (data) => {
        result.stdout += data;
      });
      child.stderr.on('data', (data) => {
        result.stderr += data;
      });
      child.stdin.on('error', () => {});
      child.stdin.end(options.stdin ?? '');
      child.once('error', fail);
      child.once('close', (code) => done({ ...result, code: code ?? -1 }));
    });

  return {
    directory,
    home,
    environment: store.environment,
    stateDirectory: store.stateDirectory,
    run,
    start,
    async create() {
      const result = await run(['config', 'set', 'max-retries', '3']);
      if (result.code !== 0) throw new Error(`the store was not created: ${result.stderr}`);
    },
    async json(args) {
      const result = await run([...args, '--json']);
      if (result.code !== 0)
        throw new Error(`${args.join(' ')} exited with ${result.code}: ${result.stderr}`);
      return JSON.parse(result.stdout);
    },
    async startWorkers(...args) {
      const workers = start(['worker', 'start', ...args]);
      const count = Number(args[args.findIndex((arg) => arg === '--count' || arg === '-c') + 1]) || 1;
      await until(() => workers.output().split(' ready ').length > count, `${count} workers are ready`);
      return workers;
    },
    async cleanup() {
      // Workers of other hosts that were killed look alive until their leases are over, so they are not waited for.
      const host = store.environment.QUEUECTL_HOSTNAME;
      const ofHost = host === undefined ? [] : ['--host', host];
      // If a build has just removed the executable, the code below still ends the processes.
      await run(['worker', 'stop', '--force', '--timeout', '20s', ...ofHost]).catch(() => {});
      for (const { child } of running) {
        // The pid of a process that has ended may be reused. killSurvivors() finds what that process left running.
        if (child.exitCode !== null || child.signalCode !== null) continue;
        try {
          process.kill(-child.pid!, 'SIGKILL');
        } catch {
          // The process has ended already.
        }
      }
      await killSurvivors(home);
      rmSync(directory, { recursive: true, force: true });
      await store.remove();
    },
  };
}

/** Returns a test that runs `body` in a new sandbox and cleans up, however it ends. `stores` replaces the stores of this run. */
export function inSandbox(
  body: (box: Sandbox) => Promise<void>,
  limitMs = BODY_LIMIT_MS,
  stores: () => Promise<MakeSandboxStore> = async () => makeSandboxStore,
): () => Promise<void> {
  return async () => {
    const box = sandbox([], EXECUTABLE, await stores());
    try {
      // This limit is shorter than the runner's own, which would leave the sandbox behind.
      await within(limitMs, body(box));
    } finally {
      await box.cleanup();
    }
  };
}

/** Resolves when the work has ended, and fails after the limit. */
export async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const limit = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`not within ${limitMs} ms`)), limitMs);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** Polls until the condition returns a truthy value, and returns that. Throws after the limit. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  limitMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const start = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<Exclude<T, false>>;
    if (performance.now() - start > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Returns the lines of a file that jobs append to. They prove what has run, whatever is in the store. */
export function lines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

export interface JobJson {
  id: string;
  state: string;
  attempts: number;
  crashes: number;
  exit_code: number | null;
  signal: string | null;
  last_error: string | null;
  next_run_at: string | null;
  command: string;
  worker_id: string | null;
  duration_ms: number | null;
}

/** Waits until the job has reached the state. */
export function untilState(box: Sandbox, id: string, state: string, limitMs = 60_000): Promise<JobJson> {
  return until(
    async () => {
      const job = await box.json<JobJson>(['show', id]);
      return job.state === state ? job : false;
    },
    `job ${id} is ${state}`,
    limitMs,
  );
}

/** Adds a job with this id and command. `fields` are the other fields of the job object. */
export function enqueue(
  box: Sandbox,
  id: string,
  command: string,
  fields: Record<string, unknown> = {},
): Promise<JobJson> {
  return box.json<JobJson>(['enqueue', JSON.stringify({ id, command, ...fields })]);
}

/** Runs `config set` for each of these settings, in order. */
export async function configure(box: Sandbox, settings: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(settings)) await box.json(['config', 'set', key, value]);
}
