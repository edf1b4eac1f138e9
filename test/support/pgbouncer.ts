import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, withoutRoot } from './postgres-server.ts';
import { until } from './queuectl.ts';

/** A PgBouncer in transaction mode. It ends with the process that started it. */
export interface PgBouncer {
  url: string;
  /** Kills it. Its clients and its server lose their connections. */
  kill(): Promise<void>;
  /** Starts it again, at the same URL. */
  start(): Promise<void>;
  /** Kills it and removes its files. */
  stop(): Promise<void>;
}

/** Starts a PgBouncer before a PostgreSQL server. Its clients share `connections` connections to the server. */
export async function startPgBouncer(serverUrl: string, connections: number): Promise<PgBouncer> {
  const { hostname, port, username, pathname } = new URL(serverUrl);
  const ownPort = await freePort();
  const home = mkdtempSync(join(tmpdir(), 'queuectl-pgbouncer-'));
  const config = join(home, 'pgbouncer.ini');
  const database = pathname.slice(1);
  writeFileSync(
    config,
    `[databases]
${database} = host=${hostname} port=${port} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
  );
  chmodSync(home, 0o755);
  let child: ChildProcess | null = null;
  const bouncer = {
    url: `postgres://${username}@127.0.0.1:${ownPort}/${database}`,
    async start() {
      const [program, ...args] = withoutRoot(['pgbouncer', config], 'TERM');
      const started = spawn(program!, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
      child = started;
      let log = '';
      started.stderr.on('data', (bytes) => {
        log = `${log}${bytes}`.slice(-20_000);
      });
      await until(() => {
        if (started.exitCode !== null) throw new Error(`PgBouncer did not start:\n${log}`);
        return log.includes('process up');
      }, 'PgBouncer accepts connections');
    },
    async kill() {
      const killed = child;
      if (killed === null || killed.exitCode !== null || killed.signalCode !== null) return;
      const exit = new Promise((resolve) => killed.once('exit', resolve));
      killed.kill('SIGKILL');
      await exit;
    },
    async stop() {
      await bouncer.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
  await bouncer.start();
  return bouncer;
}
