import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time/clock.ts';
import { careOf, openStore, peekStore } from '../../src/store/open.ts';
import { inTempDir } from '../support/temp-dir.ts';

const REFUSED = { code: 'store-unavailable', message: expect.stringContaining('PostgreSQL') };

test.each(['postgres://host/queue', 'postgresql:queue', 'POSTGRES:x'])(
  '%s is the location of a PostgreSQL server, which has no files',
  async (location) => {
    // The parameter is unknown, so that nothing connects to a server that may run on this machine.
    const url = `${location}?nothing=1`;
    await expect(openStore(url)).rejects.toMatchObject(REFUSED);
    const care = await careOf(url);
    expect(care.isOnServer).toBe(true);
    expect(() => care.stateDirectoryOf(url)).toThrow('PostgreSQL');
    await expect(care.check(url)).rejects.toMatchObject(REFUSED);
    await expect(peekStore(url)).rejects.toMatchObject(REFUSED);
  },
);

test('a path is the location of a file, and peeking at it creates nothing', () =>
  inTempDir(async (directory) => {
    const location = join(directory, 'queue.db');
    expect(await peekStore(location)).toBeNull();
    expect((await careOf(location)).stateDirectoryOf(location).path).toBe(`${location}.d`);
    expect(readdirSync(directory)).toEqual([]);
    const { store, created, stateDirectory } = await openStore(location);
    expect({ created, path: stateDirectory.path }).toEqual({ created: true, path: `${location}.d` });
    await store.close();
    const found = await peekStore(location);
    expect(found?.epoch).toBe(store.epoch);
    await found?.close();
  }));

test('events have the time of the given clock', () =>
  inTempDir(async (directory) => {
    const { store, clock } = await openStore(join(directory, 'queue.db'), {
      clock: { ...systemClock, now: () => 1234 },
    });
    expect(clock.now()).toBe(1234);
    await store.note({ kind: 'operation-begun' });
    await store.withActor('somebody').setQueue('mail', { concurrency: 1 });
    expect((await store.events(0, 10)).map(({ at }) => at)).toEqual([1234, 1234]);
    await store.close();
  }));
