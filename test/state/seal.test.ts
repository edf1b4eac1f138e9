import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { attemptsIn, moveOutputs } from '../../src/state/kept-output.ts';
import { placeOf } from '../../src/state/place.ts';
import { isSealed, makeSeal, removeSeal } from '../../src/state/seal.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

const EPOCH = '0123456789ab';

test('a seal is created once, and again when it is missing or incomplete', () =>
  inTempDir(async (directory) => {
    const file = `${directory}/attempts/${EPOCH}-0.rec`;
    const first = makeSeal(stateDirectory(directory), EPOCH);
    expect(makeSeal(stateDirectory(directory), EPOCH)).toBe(first);
    rmSync(`${directory}/attempts`, { recursive: true });
    const second = makeSeal(stateDirectory(directory), EPOCH);
    expect(second).not.toBe(first);
    writeFileSync(file, '');
    expect(makeSeal(stateDirectory(directory), EPOCH)).not.toBe(second);
    expect(readdirSync(`${directory}/attempts`)).toEqual([`${EPOCH}-0.rec`]);
    expect(attemptsIn(stateDirectory(directory), EPOCH)).toEqual([]);
  }));

test('a new seal replaces that of an earlier version, which would prove that attempts of this version never started', () =>
  inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts/${EPOCH}-0`, { recursive: true });
    writeFileSync(`${directory}/attempts/${EPOCH}-0/seal`, '0123456789abcdef');
    expect(makeSeal(stateDirectory(directory), EPOCH)).not.toBe('0123456789abcdef');
    expect(readdirSync(`${directory}/attempts`)).toEqual([`${EPOCH}-0.rec`]);
  }));

test('a seal counts as intact only if its value is the one in the store, and only for attempts after it', () =>
  inTempDir(async (directory) => {
    const value = makeSeal(stateDirectory(directory), EPOCH)!;
    const place = placeOf(stateDirectory(directory), EPOCH, 8);
    expect(isSealed(place, 8, { value, after: 7 })).toBe(true);
    expect(isSealed(place, 8, { value, after: 8 })).toBe(false);
    expect(isSealed(place, 8, { value: 'another', after: 7 })).toBe(false);
    expect(isSealed(place, 8, null)).toBe(false);
    expect(isSealed(placeOf(stateDirectory(directory), 'ba9876543210', 8), 8, { value, after: 7 })).toBe(
      false,
    );
    removeSeal(stateDirectory(directory), EPOCH);
    expect(isSealed(place, 8, { value, after: 7 })).toBe(false);
  }));

test('moving the attempts of a store away removes its seal', () =>
  inTempDir(async (directory) => {
    const value = makeSeal(stateDirectory(directory), EPOCH)!;
    const place = placeOf(stateDirectory(directory), EPOCH, 8);
    writeFileSync(place.output, '');
    moveOutputs(stateDirectory(directory), stateDirectory(`${directory}/kept`), EPOCH);
    expect(isSealed(place, 8, { value, after: 7 })).toBe(false);
    expect(readdirSync(`${directory}/attempts`)).toEqual([]);
    expect(attemptsIn(stateDirectory(`${directory}/kept`), EPOCH)).toEqual([8]);
  }));
