import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { careOf, openStore, peekStore } from '../../src/store/open.ts';
import { inTempDir } from '../support/temp-dir.ts';

const OPTIONS = {
  ifMissing: 'create' as const,
  actor: null,
  anyOwner: false,
  ifOlder: 'migrate' as const,
  partsOnDemand: false,
  isBrief: false,
  clock: systemClock,
};
const REFUSED = { code: 'store-unavailable', message: expect.stringContaining('PostgreSQL') };

test.each(['postgres://host/queue', 'postgresql:queue', 'POSTGRES:x'])(
  '%s cannot be opened, because PostgreSQL is not supported yet, and peeking finds no store',
  async (location) => {
    await expect(openStore(location, OPTIONS)).rejects.toMatchObject(REFUSED);
    await expect(careOf(location)).rejects.toMatchObject(REFUSED);
    expect(await peekStore(location)).toBeNull();
  },
);

test('a path is the location of a file, and peeking at it creates nothing', () =>
  inTempDir(async (directory) => {
    const location = join(directory, 'queue.db');
    expect(await peekStore(location)).toBeNull();
    expect((await careOf(location)).stateDirectoryOf(location).path).toBe(`${location}.d`);
    expect(readdirSync(directory)).toEqual([]);
    const { store, created, stateDirectory } = await openStore(location, OPTIONS);
    expect({ created, path: stateDirectory.path }).toEqual({ created: true, path: `${location}.d` });
    await store.close();
    const found = await peekStore(location);
    expect(found?.epoch).toBe(store.epoch);
    await found?.close();
  }));

test('events have the time of the given clock', () =>
  inTempDir(async (directory) => {
    const { store, clock } = await openStore(join(directory, 'queue.db'), {
      ...OPTIONS,
      clock: { ...systemClock, now: () => 1234 },
    });
    expect(clock.now()).toBe(1234);
    await store.note({ kind: 'operation-begun' });
    await store.withActor('somebody').setQueue('mail', { concurrency: 1 });
    expect((await store.events(0, 10)).map(({ at }) => at)).toEqual([1234, 1234]);
    await store.close();
  }));
