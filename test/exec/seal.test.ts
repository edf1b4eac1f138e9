import { expect, test } from 'bun:test';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { placeOf } from '../../src/exec/place.ts';
import { isSealed, makeSeal } from '../../src/exec/seal.ts';
import { inTempDir } from '../support/temp-dir.ts';

const EPOCH = '0123456789ab';

test('a seal is made once, and again when it is gone or incomplete', () =>
  inTempDir(async (directory) => {
    const file = `${directory}/attempts/0-seal`;
    const first = makeSeal(directory);
    expect(makeSeal(directory)).toBe(first);
    rmSync(`${directory}/attempts`, { recursive: true });
    const second = makeSeal(directory);
    expect(second).not.toBe(first);
    writeFileSync(file, '');
    expect(makeSeal(directory)).not.toBe(second);
    expect(readdirSync(`${directory}/attempts`)).toEqual(['0-seal']);
  }));

test('only the seal that the store holds proves something, and only for attempts after it', () =>
  inTempDir(async (directory) => {
    const value = makeSeal(directory)!;
    const place = placeOf(directory, EPOCH, 8);
    expect(isSealed(place, 8, { value, after: 7 })).toBe(true);
    expect(isSealed(place, 8, { value, after: 8 })).toBe(false);
    expect(isSealed(place, 8, { value: 'another', after: 7 })).toBe(false);
    expect(isSealed(place, 8, null)).toBe(false);
    rmSync(`${directory}/attempts/0-seal`);
    expect(isSealed(place, 8, { value, after: 7 })).toBe(false);
  }));
