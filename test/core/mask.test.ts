import { describe, expect, test } from 'bun:test';
import { holdsMask, MASK } from '../../src/core/jobs/command-text.ts';
import { maskEnv, masked, maskUrls } from '../../src/core/text/mask.ts';

test('variables are masked by their name, and URLs with credentials by their value', () => {
  const env: Record<string, string> = {
    PATH: '/bin',
    DB_PASSWORD: 'hunter2',
    N: '1',
    DATABASE_URL: 'postgres://me:hunter2@db.example.org/x',
    SENTRY_URL: 'https://hunter2@sentry.example.org/1',
    API_URI: 'https://example.org/?token=-hunter2',
    DB_URL: 'jdbc:x://db/y;user=me;password=hunter2',
    PAGE_URL: 'https://example.org/?token=$TOKEN&sort_key=a&token=',
    HOMEPAGE_URL: 'https://example.org/',
    OPTIONS: '--proxy http://me:hunter2@proxy:3128 -v',
  };
  expect(maskEnv(env)).toEqual({
    PATH: '/bin',
    DB_PASSWORD: MASK,
    N: '1',
    DATABASE_URL: MASK,
    SENTRY_URL: MASK,
    API_URI: MASK,
    DB_URL: MASK,
    PAGE_URL: 'https://example.org/?token=$TOKEN&sort_key=a&token=',
    HOMEPAGE_URL: 'https://example.org/',
    OPTIONS: `--proxy http://me:${MASK}@proxy:3128 -v`,
  });
  expect(env.DB_PASSWORD).toBe('hunter2');
});

describe('passwords of URLs', () => {
  test.each([
    ['psql postgres://me:hunter2@db/x', `psql postgres://me:${MASK}@db/x`],
    ['redis://:hunter2@cache', `redis://:${MASK}@cache`],
    ["'a://b:c@d' a://e:f@g", `'a://b:${MASK}@d' a://e:${MASK}@g`],
    ['a://me:hun@ter@db', `a://me:${MASK}@db`],
    ['a://me@b.org:hunter2@db', `a://me@b.org:${MASK}@db`],
    ['a://me@b.org:80/x@y', 'a://me@b.org:80/x@y'],
    ...[
      '-x',
      '.x',
      '*x',
      '{x',
      '~x',
      '<x',
      '7',
      'on',
      'x$y',
      '$x-y',
      `$\{X:-y}`,
      'x`y',
      '/x',
      'x/y',
      '123456/x',
      "x'y",
      'x"y',
    ].map((password) => [`'a://me:${password}@db'`, `'a://me:${MASK}@db'`]),
    ...['$PW', `$\{PW}`, '$(pw)'].map((password) => [`a://me:${password}@db`, `a://me:${password}@db`]),
    ['http://h:$PORT/a@b "http://h:80",a@b', 'http://h:$PORT/a@b "http://h:80",a@b'],
    ['http://h:80,http://me:x/y@b', `http://h:80,http://me:${MASK}@b`],
    ['http://localhost:8080/a@b', 'http://localhost:8080/a@b'],
    ['ssh://git@example.org:22/x', 'ssh://git@example.org:22/x'],
    ['mail me:you@example.org', 'mail me:you@example.org'],
  ])('in %s are shown as %s', (text, shown) => expect(maskUrls(text!)).toBe(shown!));
});

test('jobs and schedules are masked with everything inside them', () => {
  const env = { TOKEN: 'hunter2' };
  const url = 'x a://b:hunter2@c';
  const shown = `x a://b:${MASK}@c`;
  expect(masked({ id: 'a', env, job: null })).toEqual({ id: 'a', env: { TOKEN: MASK }, job: null });
  expect(masked({ name: 'n', job: { env } })).toEqual({ name: 'n', job: { env: { TOKEN: MASK } } });
  expect(masked({ id: 'a' })).toEqual({ id: 'a' });
  expect(masked({ command: url, argv: ['x', url], on_dead: url, last_error: null })).toEqual({
    ...{ command: shown, argv: ['x', shown], on_dead: shown, last_error: null },
  });
});

test('holdsMask recognises a mask in the place of a secret', () => {
  expect([MASK, `psql a://b:${MASK}@c`].map(holdsMask)).toEqual([true, true]);
  expect([`echo ${MASK}`, 'a://b:c@d', ''].map(holdsMask)).toEqual([false, false, false]);
});
