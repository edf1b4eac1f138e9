import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { cLibrary } from '../../src/files/c-library.ts';
import { pidScope } from '../../src/files/drafts.ts';
import { createSpareOutputs, type SpareOutputs, sparesIn } from '../../src/state/spare-outputs.ts';
import { type StateDirectory, stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

interface Scene {
  state: StateDirectory;
  spares: SpareOutputs;
  /** Returns the path of the output of an attempt. */
  output(attempt: number): string;
  kept(): string[];
}

function inState(work: (scene: Scene) => void): () => Promise<void> {
  return () =>
    inTempDir((directory) => {
      const state = stateDirectory(directory);
      mkdirSync(state.attempts);
      work({
        state,
        spares: createSpareOutputs(state)!,
        output: (attempt) => `${state.attempts}/${attempt}.out`,
        kept: () => readdirSync(sparesIn(state)),
      });
    });
}

const STRACE = Bun.which('strace');
const ROOT = resolve(import.meta.dir, '../..');

const makeOutput = (path: string, text = ''): number => {
  writeFileSync(path, text, { mode: 0o600 });
  return statSync(path).ino;
};

const openFiles = (): number => readdirSync('/proc/self/fd').length;

describe.skipIf(cLibrary() === null)('spare outputs', () => {
  test(
    'a kept file becomes the output of the next attempt, also for those who look at its descriptor',
    inState(({ state, spares, output, kept }) => {
      const inode = makeOutput(output(1));
      expect(spares.keep(output(1))).toBe(true);
      expect(readdirSync(state.attempts)).toEqual([]);
      const file = spares.use(output(2))!;
      expect(readlinkSync(`/proc/self/fd/${file}`)).toBe(output(2));
      writeSync(file, 'text');
      closeSync(file);
      expect(readdirSync(state.attempts)).toEqual(['2.out']);
      expect(kept()).toEqual([]);
      expect(statSync(output(2))).toMatchObject({ ino: inode, nlink: 1, size: 4 });
      expect(spares.use(output(3))).toBeUndefined();
    }),
  );

  test(
    'a file that is written to after the end of its attempt is deleted, and another kept file is used',
    inState(({ state, spares, output, kept }) => {
      const inode = makeOutput(output(1));
      makeOutput(output(2));
      for (const n of [1, 2]) spares.keep(output(n));
      const [last] = kept().sort().reverse();
      writeFileSync(`${sparesIn(state)}/${last}`, 'late');
      closeSync(spares.use(output(3))!);
      expect(statSync(output(3)).ino).toBe(inode);
      expect(kept()).toEqual([]);
    }),
  );

  test(
    'an old file is not used again',
    inState(({ spares, output, kept }) => {
      makeOutput(output(1));
      utimesSync(output(1), Date.now() / 1000 - 3700, Date.now() / 1000 - 3700);
      spares.keep(output(1));
      expect(spares.use(output(2))).toBeUndefined();
      expect(kept()).toEqual([]);
    }),
  );

  test(
    'an output that another process has made is not replaced',
    inState(({ spares, output }) => {
      makeOutput(output(1));
      spares.keep(output(1));
      writeFileSync(output(2), 'gate');
      const before = openFiles();
      expect(spares.use(output(2))).toBeNull();
      expect(readFileSync(output(2), 'utf8')).toBe('gate');
      expect(openFiles()).toBe(before);
    }),
  );

  test.each<[string, (path: string) => void]>([
    ['a directory', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('/dev/null', path)],
    ['a file with content', (path) => writeFileSync(path, 'text')],
    ['nothing', () => {}],
  ])('%s in place of the output is not kept', (_, make) =>
    inState(({ spares, output, kept }) => {
      make(output(1));
      expect(spares.keep(output(1))).toBe(false);
      expect(kept()).toEqual([]);
      makeOutput(output(2));
      expect(spares.keep(output(2))).toBe(true);
    })(),
  );

  test(
    'at most 64 files are kept, and none after the end',
    inState(({ spares, output, kept }) => {
      const results = Array.from({ length: 70 }, (_, n) => {
        makeOutput(output(n));
        return spares.keep(output(n));
      });
      expect(results.filter(Boolean)).toHaveLength(64);
      spares.end();
      expect(kept()).toEqual([]);
      expect(spares.keep(output(69))).toBe(false);
    }),
  );

  test(
    'two workers of one process do not use the same names',
    inState(({ state, spares, output, kept }) => {
      const other = createSpareOutputs(state)!;
      for (const n of [1, 2]) makeOutput(output(n));
      spares.keep(output(1));
      other.keep(output(2));
      expect(kept()).toHaveLength(2);
    }),
  );

  test(
    'the files of a killed worker are deleted, and those of another worker stay',
    inState(({ state, spares, output, kept }) => {
      makeOutput(output(1));
      spares.keep(output(1));
      const own = kept();
      const { pid } = spawnSync('true');
      makeOutput(`${sparesIn(state)}/${pidScope()}-${pid}-00-1`);
      createSpareOutputs(state);
      expect(kept()).toEqual(own);
    }),
  );

  test(
    'no file is kept if the directory was removed',
    inState(({ state, spares, output }) => {
      rmSync(sparesIn(state), { recursive: true });
      makeOutput(output(1));
      expect(spares.keep(output(1))).toBe(false);
      expect(readdirSync(state.attempts)).toEqual(['1.out']);
    }),
  );

  test.skipIf(STRACE === null)(
    'no file is kept if the system cannot rename one without replacing another',
    inState(({ state, kept }) => {
      const script = `import { createSpareOutputs } from '${ROOT}/src/state/spare-outputs.ts';
        console.log(createSpareOutputs({ path: '${state.path}' }));`;
      const args = ['-f', '-qq', '-o', '/dev/null', '-e', 'inject=renameat2:error=ENOSYS'];
      const { stdout } = spawnSync(STRACE!, [...args, process.execPath, '-e', script], { encoding: 'utf8' });
      expect(stdout).toBe('null\n');
      expect(kept()).toEqual([]);
    }),
  );

  test(
    'a directory that cannot be used prevents no start',
    inState(({ state }) => {
      rmSync(sparesIn(state), { recursive: true });
      writeFileSync(sparesIn(state), '');
      expect(createSpareOutputs(state)).toBeNull();
    }),
  );
});
