import { expect, test } from 'bun:test';
import { createSessions, IDLE_MS } from '../../src/http/access.ts';

const neverAborted = (): AbortSignal => new AbortController().signal;

test('a session has 256 random bits and is valid on its own server only', () => {
  const [sessions, other] = [createSessions(() => 0), createSessions(() => 0)];
  const secrets = Array.from({ length: 100 }, () => sessions.begin('full', neverAborted()));
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(Buffer.from(secret.split('-').slice(1).join('-'), 'base64url')).toHaveLength(32);
    expect([sessions.origin(secret), other.origin(secret)]).toEqual(['own', 'foreign']);
    expect(sessions.find(secret)?.role).toBe('full');
    expect(other.find(secret)).toBeNull();
  }
  for (const text of ['', 'x', 'a'.repeat(43), `${secrets[0]}x`]) expect(sessions.origin(text)).toBe('none');
});

test('a session ends after 12 hours without use, unless it has an open stream', () => {
  let now = 0;
  const sessions = createSessions(() => now);
  const [idle, busy] = [sessions.begin('full', neverAborted()), sessions.begin('read-only', neverAborted())];
  const release = sessions.find(busy)!.use();
  now += IDLE_MS;
  expect(sessions.find(idle)).not.toBeNull();
  sessions.find(idle)!.use()();
  now += IDLE_MS;
  expect(sessions.find(idle)).not.toBeNull();
  now += 1;
  expect(sessions.find(idle)).toBeNull();
  expect(sessions.find(busy)?.role).toBe('read-only');
  release();
  now += IDLE_MS + 1;
  expect(sessions.find(busy)).toBeNull();
});

test('above the maximum number of sessions, the least recently used one ends', () => {
  const sessions = createSessions(() => 0, 3);
  const [a, b, c] = [1, 2, 3].map(() => sessions.begin('full', neverAborted())) as [string, string, string];
  const { ended } = sessions.find(b)!;
  sessions.find(a);
  sessions.find(c);
  const d = sessions.begin('full', neverAborted());
  expect([a, b, c, d].map((one) => sessions.find(one) !== null)).toEqual([true, false, true, true]);
  expect(ended.aborted).toBe(true);
});

test('a session ends when its token is replaced or end() is called', () => {
  const token = new AbortController();
  const sessions = createSessions(() => 0);
  const [a, b, other] = [token.signal, token.signal, neverAborted()].map((signal) =>
    sessions.begin('full', signal),
  );
  const signals = [a, b, other].map((one) => sessions.find(one!)!.ended);
  sessions.find(a!)!.end();
  expect(signals.map((one) => one.aborted)).toEqual([true, false, false]);
  token.abort();
  expect(signals.map((one) => one.aborted)).toEqual([true, true, false]);
  expect(sessions.find(b!)).toBeNull();
  expect(sessions.find(other!)).not.toBeNull();
});

test('the maximum number of sessions applies to each role separately', () => {
  const sessions = createSessions(() => 0, 2);
  const full = sessions.begin('full', neverAborted());
  const readers = Array.from({ length: 3 }, () => sessions.begin('read-only', neverAborted()));
  expect(sessions.find(full)).not.toBeNull();
  expect(readers.map((one) => sessions.find(one) !== null)).toEqual([false, true, true]);
});
