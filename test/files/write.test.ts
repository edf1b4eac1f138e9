import { expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDraft, writeAtomically } from '../../src/files/write.ts';
import { hasTool } from '../faults/syscalls.ts';
import { inTempDir } from '../support/temp-dir.ts';

const KEEP = { replace: false, sync: true };
const REPLACE = { replace: true, sync: true };

test('the first of two writers wins, and the write of the second returns false', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'file');
    expect(writeAtomically(file, 'first', KEEP)).toBe(true);
    expect(writeAtomically(file, 'second', KEEP)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(readdirSync(directory)).toEqual(['file']);
  }));

test('a file is replaced as a whole: it is another file, with its own mode', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'file');
    writeFileSync(file, 'a longer text than the new one');
    const before = statSync(file).ino;
    expect(writeAtomically(file, 'new', { ...REPLACE, mode: 0o640 })).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).ino).not.toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  }));

test('the file does not exist before it is named, and its draft is removed if an error comes before that', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'file');
    const draft = newDraft(file);
    const beforeNaming = (): void => {
      expect(readFileSync(draft, 'utf8')).toBe('text');
      expect(readdirSync(directory)).toHaveLength(1);
      throw new Error('stopped');
    };
    expect(() => writeAtomically(file, 'text', { ...KEEP, draft, beforeNaming })).toThrow('stopped');
    expect(readdirSync(directory)).toEqual([]);
  }));

test.skipIf(!hasTool('strace'))(
  'without hard links the first writer also wins, and a write that needs links fails',
  () =>
    inTempDir(async (directory) => {
      const file = join(directory, 'file');
      const script = `
      const { writeAtomically } = await import('./src/files/write.ts');
      const write = (text, more) => {
        try {
          return writeAtomically(${JSON.stringify(file)}, text, { replace: false, sync: true, ...more });
        } catch (error) {
          return error.code;
        }
      };
      console.log(JSON.stringify([write('no', { needsLinks: true }), write('first'), write('second')]));`;
      const inject = ['-f', '-qq', '-o', '/dev/null', '-e', 'inject=link,linkat:error=EPERM'];
      const printed = execFileSync('strace', [...inject, process.execPath, '-e', script], {
        encoding: 'utf8',
      });
      expect(JSON.parse(printed)).toEqual(['EPERM', true, false]);
      expect(readFileSync(file, 'utf8')).toBe('first');
      expect(readdirSync(directory)).toEqual(['file']);
    }),
);
