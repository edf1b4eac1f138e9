import { expect } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readAddress, serve } from '../support/http.ts';
import { type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

test('the token has 256 bits and is readable for its owner only, and --rotate-token replaces it', async (box) => {
  const first = await serve(box);
  const file = join(box.stateDirectory(), 'token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(first.token, 'base64url')).toHaveLength(32);
  expect(readFileSync(file, 'utf8').trim()).toBe(first.token);
  const second = await serve(box);
  expect(second.token).toBe(first.token);
  const third = await serve(box, '--rotate-token');
  expect(third.token).not.toBe(first.token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await third.call('GET', '/api/v1/jobs', { token: first.token })).status).toBe(401);
  expect((await third.call('GET', '/api/v1/jobs')).status).toBe(200);
  expect(tokenFiles(box)).toEqual(['token', 'token-read-only']);
});

test('the read-only token has its own file, and --rotate-token replaces it too', async (box) => {
  const readOnly = await serve(box, '--read-only');
  const file = join(box.stateDirectory(), 'token-read-only');
  expect(readOnly.server.stdout()).toContain(`token file: ${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readOnly.token, 'base64url')).toHaveLength(32);
  const full = await serve(box, '--rotate-token');
  expect(full.token).not.toBe(readOnly.token);
  expect((await full.call('GET', '/api/v1/jobs', { token: readOnly.token })).status).toBe(401);
  const token = readFileSync(file, 'utf8').trim();
  expect((await full.call('GET', '/api/v1/jobs', { token })).status).toBe(200);
  expect((await readOnly.call('GET', '/api/v1/jobs', { token })).status).toBe(200);
  // The full token also opens a read-only server.
  expect((await readOnly.call('GET', '/api/v1/jobs', { token: full.token })).status).toBe(200);
});

test('on a terminal the address contains the token, and elsewhere the token file is named instead', async (box) => {
  const terminal = onTerminal(box, ['serve', '--port', '0'], 24, 120);
  await until(() => /#token=[\w-]{43}/.test(terminal.stdout()), 'it prints the address');
  const file = join(box.stateDirectory(), 'token');
  const token = readFileSync(file, 'utf8').trim();
  expect(terminal.stdout()).toContain(`/#token=${token}`);
  expect(terminal.stdout()).not.toContain('token file');
  for (const flags of [[], ['--json']]) {
    const server = box.start(['serve', '--port', '0', ...flags]);
    await until(() => server.stdout().includes('\n'), 'it listens');
    expect(server.output()).not.toContain(token);
    expect(server.stdout()).toMatch(/http:\/\/127\.0\.0\.1:\d+\/["\n]/);
    expect(server.stdout()).toContain(file);
  }
});

const tokenFiles = (box: Sandbox): string[] =>
  readdirSync(box.stateDirectory())
    .filter((name) => name.startsWith('token'))
    .sort();

test('servers that start at the same time share one token', async (box) => {
  await box.create();
  const sites = await Promise.all(Array.from({ length: 5 }, () => serve(box)));
  expect(new Set(sites.map((site) => site.token)).size).toBe(1);
  for (const site of sites)
    expect((await site.call('GET', '/api/v1/jobs', { token: sites[0]!.token })).status).toBe(200);
});

test('an invalid token file is refused and replaced on request, and one that other users can read causes a warning', async (box) => {
  const { token } = await serve(box);
  const file = join(box.stateDirectory(), 'token');
  for (const text of ['', '\n', 'short', `${token}x`, `${token}\n${token}\n`]) {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await box.run(['serve', '--port', '0']);
    expect({ text, code, stdout }).toEqual({ text, code: 5, stdout: '' });
    expect(stderr).toBe(
      `error: ${file} does not contain a token\n  to create new tokens: queuectl serve --rotate-token\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  const again = await serve(box, '--rotate-token');
  expect((await again.call('GET', '/api/v1/jobs')).status).toBe(200);
  expect(again.server.output()).not.toContain('warning');
  chmodSync(file, 0o644);
  expect((await serve(box)).server.output()).toContain('warning: other users can read a token');
  rmSync(file);
  mkdirSync(file);
  for (const more of [[], ['--rotate-token']]) {
    const { code, stderr } = await box.run(['serve', '--port', '0', ...more]);
    expect(code).toBe(5);
    expect(stderr).toBe(`error: ${file} is not a file\n  to remove it: rmdir ${file}\n`);
  }
  expect(tokenFiles(box)).toEqual(['token', 'token-read-only']);
});

test('--host accepts loopback names and addresses and no others', async (box) => {
  for (const host of ['LOCALHOST', 'localhost']) {
    const { server } = await serve(box, '--host', host);
    expect(server.stdout()).toStartWith(`http://${host.toLowerCase()}:`);
  }
  for (const host of ['127.0.0.1.example', '1270.0.1', '128.0.0.1', '[::]'])
    expect((await box.run(['serve', '--port', '0', '--host', host])).code).toBe(6);
});

test('the token is in no process listing and no log, and only in its file and the page for the browser', async (box) => {
  // This script runs instead of the browser and records its arguments.
  const argumentsFile = join(box.directory, 'arguments');
  const browser = join(box.directory, 'xdg-open');
  writeFileSync(
    browser,
    `#!/bin/sh\necho "$@" > '${argumentsFile}.draft'; mv '${argumentsFile}.draft' '${argumentsFile}'\n`,
  );
  chmodSync(browser, 0o755);
  const server = box.start(['serve', '--port', '0', '--open'], {
    env: { PATH: `${box.directory}:${process.env.PATH}` },
  });
  const { token } = await readAddress(server);
  const page = await until(() => {
    try {
      return readFileSync(argumentsFile, 'utf8').trim();
    } catch {
      return false;
    }
  }, 'the browser is called');
  expect(page).not.toContain(token);
  expect(readFileSync(page, 'utf8')).toContain(token);
  expect(statSync(page).mode & 0o777).toBe(0o600);

  await box.startWorkers();
  const site = await serve(box);
  await site.call('POST', '/api/v1/jobs', { body: { id: 'env', command: 'env; cat /proc/$PPID/environ' } });
  await site.call('POST', '/api/v1/jobs', { body: '{' });
  await site.call('GET', `/api/v1/jobs?token=${token}`);
  await until(
    async () => (await site.call('GET', '/api/v1/jobs/env')).json.state === 'completed',
    'the job has run',
  );
  expect((await site.call('GET', '/api/v1/jobs/env/output')).text).not.toContain(token);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    for (const what of ['cmdline', 'environ'])
      expect({ pid, what, has: textOf(`/proc/${pid}/${what}`).includes(token) }).toEqual({
        pid,
        what,
        has: false,
      });
  expect(server.output()).not.toContain(token);
  const filesWithToken = readdirSync(box.home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(box.home, name))
    .filter((path) => textOf(path).includes(token));
  expect(filesWithToken.sort()).toEqual([page, join(box.stateDirectory(), 'token')].sort());
  process.kill(server.pid, 'SIGTERM');
  expect(await server.closed).toBe(0);
  expect(textOf(page)).toBe('');
});

test('an address that other machines can reach is allowed only with --allow-remote', async (box) => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
    const { code, stderr, stdout } = await box.run(['serve', '--port', '0', '--host', host]);
    expect({ host, code, stdout }).toEqual({ host, code: 6, stdout: '' });
    expect(stderr).toMatch(/^error: .*\n {2}to allow this, add --allow-remote.*\n$/);
  }
  const site = await serve(box, '--host', '0.0.0.0', '--allow-remote');
  expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
  expect((await site.call('GET', '/api/v1/jobs', { token: null })).status).toBe(401);
  expect((await site.call('GET', '/api/v1/jobs', { headers: { host: 'evil.example' } })).status).toBe(421);
});

test('a port that is in use or invalid is refused with a clear error', async (box) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()));
  const { port } = other.address() as { port: number };
  const taken = await box.run(['serve', '--port', String(port)]);
  other.close();
  expect([taken.code, taken.stdout]).toEqual([1, '']);
  expect(taken.stderr).toBe(
    `error: another process is already listening on 127.0.0.1:${port}\n  to use a free port: queuectl serve --port 0\n`,
  );
  for (const text of ['x', '-1', '65536', '1.5']) {
    const { code, stderr } = await box.run(['serve', `--port=${text}`]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: --port must be/);
  }
  expect((await box.run(['serve', 'now'])).code).toBe(2);
});

function textOf(file: string): string {
  try {
    // Reading a pipe would block.
    return statSync(file).isFIFO() ? '' : readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
