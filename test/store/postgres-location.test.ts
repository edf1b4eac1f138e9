import { expect, test } from 'bun:test';
import { QueueError } from '../../src/core/errors.ts';
import { readLocation } from '../../src/store/postgres/location.ts';

/** Returns the error of reading a location. */
function refusalOf(location: string, environment: NodeJS.ProcessEnv = {}): QueueError {
  try {
    readLocation(location, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(QueueError);
    return error as QueueError;
  }
  throw new Error('the location was not refused');
}

test.each([
  'postgres:app:secretpw@127.0.0.1/app',
  'postgres:/app:secretpw@127.0.0.1/app',
  'postgresql:app@127.0.0.1/secretpw',
  'postgres://app:77?secretpw@127.0.0.1/app',
  'postgres://app:77?secretpw=1@127.0.0.1/app',
  'postgres://app:77?a b secretpw',
  'postgres://app:77/secretpw@127.0.0.1/app',
  'postgres://app:77#secretpw@127.0.0.1/app',
  'postgres://app:secretpw%zz@127.0.0.1/app',
  'postgres://app:x/secretpw@127.0.0.1/app',
])('the refusal of %s shows no part of it', (location) => {
  const { message, hint } = refusalOf(location);
  expect(message).toStartWith('invalid PostgreSQL URL: ');
  expect(`${message} ${hint}`).not.toMatch(/secretpw|127/);
});

test('a URL may contain encoded characters, and a URL with an @ as a parameter', () => {
  const location = readLocation('postgres://app:a%2Fb%23%3F@h/d%40e?listen=postgres://u@other/db', {});
  expect(location).toMatchObject({
    ...{ password: 'a/b#?', database: 'd@e', host: 'h', listen: 'postgres://u@other/db' },
  });
});
