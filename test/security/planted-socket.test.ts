/** Tests sockets that another user puts where a client looks for its PostgreSQL server. */

import { expect, test as plainTest } from 'bun:test';
import { chmodSync, chownSync, lchownSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { onServer, postgresUrl } from '../support/postgres.ts';
import { freePort } from '../support/postgres-server.ts';
import { inSandbox, type Result, type Sandbox } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const PASSWORD = 'geheim-4711';
const NOBODY = 65534;
const testAsRoot = plainTest.skipIf(process.getuid!() !== 0);
/** The message AuthenticationCleartextPassword. */
const ASK_FOR_PASSWORD = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]);

interface Trap {
  /** Everything that clients have sent. */
  received: () => string;
  close(): void;
}

/** Starts a server that asks every client for its password. It may do something before it asks. */
async function setTrap(path: string, owner: number, beforeAsking = (): void => {}): Promise<Trap> {
  let received = '';
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (received === '') beforeAsking();
      const isStart = !received.includes('app');
      received += data.toString('latin1');
      if (isStart) socket.write(ASK_FOR_PASSWORD);
      else socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  lchownSync(path, owner, owner);
  return { received: () => received, close: () => void server.close() };
}

/** Runs a test with a directory like /tmp, and the port of a server that does not run. */
const inSharedDirectory = (body: (box: Sandbox, shared: string, port: number) => Promise<void>) =>
  inSandbox(async (box) => {
    const shared = join(box.directory, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    await body(box, shared, await freePort());
  });

const status = (box: Sandbox, url: string, env: Record<string, string> = {}): Promise<Result> =>
  box.run(['status', '--store-timeout', '0'], { env: { ...env, QUEUECTL_DB: url } });

const REFUSED = { code: 5, stderr: expect.stringContaining('belongs to user 65534') };

testAsRoot(
  'a socket of another user in /tmp gets nothing from a command whose URL has no host',
  inSharedDirectory(async (box, _, port) => {
    const path = `/tmp/.s.PGSQL.${port}`;
    const trap = await setTrap(path, NOBODY);
    try {
      const result = await status(box, `postgres://app:${PASSWORD}@/app`, { PGPORT: String(port) });
      expect({ ...result, received: trap.received() }).toMatchObject({ code: 5, received: '' });
      // Somebody else may also wait at the port of localhost.
      expect(result.stderr).toContain('there is no socket');
    } finally {
      trap.close();
    }
  }),
);

testAsRoot(
  'a socket of another user in a given directory gets nothing',
  inSharedDirectory(async (box, shared, port) => {
    const trap = await setTrap(join(shared, `.s.PGSQL.${port}`), NOBODY);
    const url = `postgres://app:${PASSWORD}@/app?port=${port}`;
    expect(await status(box, `${url}&host=${shared}`)).toMatchObject(REFUSED);
    expect(await status(box, url, { PGHOST: shared })).toMatchObject(REFUSED);
    expect((await box.run(['doctor'], { env: { QUEUECTL_DB: `${url}&host=${shared}` } })).stdout).toContain(
      'requirepeer=65534',
    );
    expect(trap.received()).toBe('');
    expect((await status(box, `${url}&host=${shared}&requirepeer=${NOBODY}`)).code).toBe(5);
    expect(trap.received()).toContain(PASSWORD);
    trap.close();
  }),
);

testAsRoot(
  'a link or a directory of another user on the way to a safe socket gets nothing',
  inSharedDirectory(async (box, shared, port) => {
    const own = join(box.directory, 'own');
    const theirs = join(shared, 'theirs');
    for (const one of [own, theirs]) mkdirSync(one);
    const name = `.s.PGSQL.${port}`;
    const trap = await setTrap(join(own, name), 0);
    const link = join(shared, name);
    symlinkSync(join(own, name), link);
    lchownSync(link, NOBODY, NOBODY);
    symlinkSync(join(own, name), join(theirs, name));
    chownSync(theirs, NOBODY, NOBODY);
    const url = `postgres://app:${PASSWORD}@/app?port=${port}&host=`;
    const linked = join(shared, 'linked');
    symlinkSync(own, linked);
    lchownSync(linked, NOBODY, NOBODY);
    for (const host of [shared, theirs, linked, `${linked}/`, `${linked}/../own`])
      expect(await status(box, url + host)).toMatchObject(REFUSED);
    chmodSync(own, 0o777);
    expect((await status(box, url + own)).stderr).toContain(`to prevent this: chmod +t ${own}`);
    chmodSync(own, 0o755);
    chmodSync(box.directory, 0o777);
    expect((await status(box, url + own)).stderr).toContain(`to prevent this: chmod +t ${box.directory}`);
    chmodSync(box.directory, 0o2775);
    expect(trap.received()).toBe('');
    lchownSync(link, 0, 0);
    await status(box, url + shared);
    expect(trap.received()).toContain(PASSWORD);
    trap.close();
  }),
);

plainTest(
  'a socket that replaces another one while a command connects does not get the password',
  inSharedDirectory(async (box, shared, port) => {
    const path = join(shared, `.s.PGSQL.${port}`);
    const other = await setTrap(join(shared, 'other'), process.getuid!());
    const trap = await setTrap(path, process.getuid!(), () => renameSync(join(shared, 'other'), path));
    const result = await status(box, `postgres://app:${PASSWORD}@/app?port=${port}&host=${shared}`);
    expect(result.code).toBe(5);
    expect(trap.received()).toContain('app');
    expect(trap.received()).not.toContain(PASSWORD);
    for (const one of [trap, other]) one.close();
  }),
);

test('a server is used through the socket of this user, of postgres or of the user that the URL requires', async (box) => {
  const server = await postgresUrl();
  const { port } = new URL(server);
  const [found] = await onServer(
    server,
    async (client) => (await client.query('SHOW unix_socket_directories')).rows,
  );
  const directory = found.unix_socket_directories as string;
  const url = `postgres://postgres@/postgres?schema=none&port=${port}&host=${directory}`;
  const isForeign = process.getuid!() === 0;
  expect((await status(box, url)).code).toBe(isForeign ? 5 : 0);
  expect((await status(box, `${url}&requirepeer=root`)).code).toBe(5);
  const owner = isForeign ? 'nobody' : String(process.getuid!());
  expect(await status(box, url, { PGREQUIREPEER: owner })).toMatchObject({ code: 0 });
  if (isForeign) {
    // A link that belongs to root, to a place that belongs to the required user, is a common way to move a socket.
    const link = join(box.directory, `.s.PGSQL.${port}`);
    symlinkSync(join(directory, `.s.PGSQL.${port}`), link);
    const linked = url.replace(directory, dirname(link));
    expect(await status(box, `${linked}&requirepeer=nobody`)).toMatchObject({ code: 0 });
    rmSync(link);
  }
});
