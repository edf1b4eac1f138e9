/** Tests how the sessions of a running server begin and end. */

import { expect } from 'bun:test';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connectTo, type Site, serve } from '../support/http.ts';
import { until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { addJobs, expectOk, expectRefused, TOMORROW } from './api/calls.ts';

const logIn = (site: Site): Promise<{ session: string; role: string }> =>
  expectOk(site, 'POST', '/api/v1/session', undefined, 201);

const expectDenied = (site: Site, token: string, code: string) =>
  expectRefused(site, ['GET', '/api/v1/jobs'], { token }, [401, code]);

test('a session has the rights of its token, and logout ends it and its streams', async (box) => {
  const site = await serve(box);
  const first = await logIn(site);
  const second = await logIn(site);
  expect(first.role).toBe('full');
  expect(first.session).not.toBe(second.session);
  const body = { id: 'a', command: 'true', ...TOMORROW };
  expect((await site.call('POST', '/api/v1/jobs', { body, token: first.session })).status).toBe(201);
  const streams = await Promise.all(
    [first.session, second.session, site.token].map((token) => site.events(null, token)),
  );
  // Only a token can log in, and only a session can log out.
  await expectRefused(site, ['POST', '/api/v1/session'], { token: first.session }, [403, 'not-allowed']);
  await expectRefused(site, ['DELETE', '/api/v1/session'], {}, [400, 'invalid-request']);
  expect((await site.call('DELETE', '/api/v1/session', { token: first.session })).status).toBe(204);
  await expectDenied(site, first.session, 'session-ended');
  await until(() => streams[0]!.isOver, 'its stream ends');
  await addJobs(site, { id: 'b', command: 'true', ...TOMORROW });
  await until(() => streams.slice(1).every((one) => one.seen.length > 0), 'the others go on');
  expect(streams.map((one) => one.isOver)).toEqual([true, false, false]);
  expect((await site.call('GET', '/api/v1/jobs', { token: second.session })).status).toBe(200);
  for (const one of streams) one.close();
});

test('a session is invalid on another server of the same store and after a restart', async (box) => {
  const site = await serve(box);
  const { session } = await logIn(site);
  await expectDenied(await serve(box), session, 'server-restarted');
  process.kill(site.server.pid, 'SIGKILL');
  await site.server.exit;
  const next = await connectTo(box.start(['serve', '--port', String(site.port)]));
  await expectDenied(next, session, 'server-restarted');
  await expectRefused(next, ['POST', '/api/v1/session'], { token: session }, [401, 'server-restarted']);
  // An old session is not counted as a guess and causes no delay.
  for (let i = 0; i < 50; i++) await expectDenied(next, session, 'server-restarted');
  await expectDenied(next, 'wrong', 'no-token');
});

test('guesses of a session are slowed down like those of a token, and a valid session is not', async (box) => {
  const site = await serve(box);
  const { session } = await logIn(site);
  const guess = `${session.slice(0, 13)}${'x'.repeat(43)}`;
  const slowed = await until(async () => {
    const guesses = Array.from({ length: 60 }, () => site.call('GET', '/api/v1/jobs', { token: guess }));
    return (await Promise.all(guesses)).find((answer) => answer.status === 429);
  }, 'a guess is refused');
  expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await site.call('GET', '/api/v1/jobs', { token: session })).status).toBe(200);
  await logIn(site);
});

test('when the token is replaced, the old token becomes invalid, and its sessions and streams end', async (box) => {
  const site = await serve(box);
  const { session } = await logIn(site);
  const streams = [await site.events(), await site.events(null, session)];
  // The streams end even if no request follows.
  const { token } = await serve(box, '--rotate-token');
  await until(() => streams.every((one) => one.isOver), 'the streams end');
  await expectDenied(site, site.token, 'no-token');
  await expectDenied(site, session, 'session-ended');
  expect((await site.call('GET', '/api/v1/jobs', { token })).status).toBe(200);
  // A request right after the replacement is refused, too.
  const newSession = (await site.call('POST', '/api/v1/session', { token })).json.session;
  const file = join(box.stateDirectory(), 'token');
  writeFileSync(`${file}.new`, `${'n'.repeat(43)}\n`);
  renameSync(`${file}.new`, file);
  await expectDenied(site, newSession, 'session-ended');
  await expectDenied(site, token, 'no-token');
  expect((await site.call('GET', '/api/v1/jobs', { token: 'n'.repeat(43) })).status).toBe(200);
});

test('a token file that is missing, empty or rewritten unchanged ends no session', async (box) => {
  const site = await serve(box);
  const { session } = await logIn(site);
  const stream = await site.events(null, session);
  const file = join(box.stateDirectory(), 'token');
  const text = readFileSync(file);
  const expectAccess = async (): Promise<void> => {
    for (const token of [site.token, session])
      expect((await site.call('GET', '/api/v1/jobs', { token })).status).toBe(200);
  };
  renameSync(file, `${file}.aside`);
  await expectAccess();
  writeFileSync(file, '');
  await expectAccess();
  writeFileSync(file, text);
  await expectAccess();
  await addJobs(site, { id: 'a', command: 'true', ...TOMORROW });
  await until(() => stream.seen.length > 0, 'the stream goes on');
  expect(stream.isOver).toBe(false);
  stream.close();
});

test('a login that began before the token was replaced starts no session', async (box) => {
  const site = await serve(box);
  const socket = connect(site.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  const head = [
    'POST /api/v1/session HTTP/1.1',
    `Host: 127.0.0.1:${site.port}`,
    `Authorization: Bearer ${site.token}`,
    'Transfer-Encoding: chunked',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  // An answer on another connection shows that the server has read the bytes above.
  await expectOk(site, 'GET', '/api/v1/jobs');
  const file = join(box.stateDirectory(), 'token');
  writeFileSync(`${file}.new`, 'A'.repeat(43), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  socket.write('0\r\n\r\n');
  await until(() => answer.includes('\r\n\r\n'), 'an answer');
  socket.destroy();
  expect(answer).toStartWith('HTTP/1.1 401');
});
