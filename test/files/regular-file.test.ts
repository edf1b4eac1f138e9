import { expect, test } from 'bun:test';
import { closeSync, linkSync, openSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { hasName } from '../../src/files/regular-file.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('hasName tells whether an open file still has its name', () =>
  inTempDir((directory) => {
    const [path, other] = [`${directory}/file`, `${directory}/other`];
    writeFileSync(path, '');
    const file = openSync(path, 'r');
    expect(hasName(file, path)).toBe(true);
    renameSync(path, other);
    expect(hasName(file, path)).toBe(false);
    writeFileSync(path, '');
    expect(hasName(file, path)).toBe(false);
    expect(hasName(file, other)).toBe(true);
    linkSync(other, `${directory}/link`);
    expect(hasName(file, `${directory}/link`)).toBe(true);
    symlinkSync(other, `${directory}/symbolic`);
    expect(hasName(file, `${directory}/symbolic`)).toBe(false);
    expect(hasName(file, `${other}/in-a-file`)).toBe(false);
    closeSync(file);
  }));
