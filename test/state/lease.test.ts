import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { readLease, writeLease } from '../../src/state/lease.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

const BOOT = '0f0e0d0c-0b0a-4908-8706-050403020100';

test('the lease that was written last is read, and the file keeps its length', () =>
  inTempDir((directory) => {
    const state = stateDirectory(directory);
    expect(readLease(state)).toBeNull();
    const leases = [
      { boot: BOOT, until: 5, graceMs: 0 },
      { boot: BOOT, until: 123_456_789_012, graceMs: 3_600_000 },
      { boot: BOOT, until: 7, graceMs: 1 },
    ];
    const lengths = leases.map((lease) => {
      writeLease(state, lease);
      expect(readLease(state)).toEqual(lease);
      return readFileSync(state.lease).length;
    });
    expect(new Set(lengths).size).toBe(1);
  }));

test.each(['', 'x', `${BOOT} 12`, `${BOOT} -5 5\n`, `${BOOT} 1e3 5\n`])('%j is no lease', (text) =>
  inTempDir((directory) => {
    const state = stateDirectory(directory);
    writeFileSync(state.lease, text);
    expect(readLease(state)).toBeNull();
  }),
);
