import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { pidScope } from '../../src/files/drafts.ts';
import { canOpenAlone } from '../../src/files/open-alone.ts';
import { createSpareOutputs, sparesIn } from '../../src/state/spare-outputs.ts';
import { type StateDirectory, stateDirectory } from '../../src/state/state-directory.ts';
import { inTempDir } from '../support/temp-dir.ts';

function inState(work: (state: StateDirectory, output: (n: number) => string) => void): () => Promise<void> {
  return () =>
    inTempDir((directory) => {
      const state = stateDirectory(directory);
      mkdirSync(state.attempts);
      work(state, (n) => `${state.attempts}/${n}.out`);
    });
}

const makeOutput = (path: string, text = ''): number => {
  writeFileSync(path, text, { mode: 0o600 });
  return statSync(path).ino;
};

describe.skipIf(!canOpenAlone())('spare outputs', () => {
  test(
    'a kept file becomes the output of the next attempt',
    inState((state, output) => {
      const spares = createSpareOutputs(state);
      const inode = makeOutput(output(1));
      expect(spares.keep(output(1))).toBe(true);
      expect(readdirSync(state.attempts)).toEqual([]);
      const file = spares.use(output(2))!;
      writeSync(file, 'text');
      closeSync(file);
      expect(readdirSync(state.attempts)).toEqual(['2.out']);
      expect(readdirSync(sparesIn(state))).toEqual([]);
      expect(statSync(output(2))).toMatchObject({ ino: inode, nlink: 1, size: 4 });
      expect(spares.use(output(3))).toBeUndefined();
    }),
  );

  test(
    'a file with content is deleted instead, and another kept file is used',
    inState((state, output) => {
      const spares = createSpareOutputs(state);
      const inode = makeOutput(output(1));
      makeOutput(output(2), 'late');
      for (const n of [1, 2]) spares.keep(output(n));
      closeSync(spares.use(output(3))!);
      expect(statSync(output(3)).ino).toBe(inode);
      expect(readdirSync(sparesIn(state))).toEqual([]);
    }),
  );

  test(
    'an output that another process has made is not replaced',
    inState((state, output) => {
      const spares = createSpareOutputs(state);
      makeOutput(output(1));
      spares.keep(output(1));
      writeFileSync(output(2), 'gate');
      expect(spares.use(output(2))).toBeNull();
      expect(readFileSync(output(2), 'utf8')).toBe('gate');
    }),
  );

  test(
    'at most 64 files are kept, and none after the end',
    inState((state, output) => {
      const spares = createSpareOutputs(state);
      const kept = Array.from({ length: 70 }, (_, n) => {
        makeOutput(output(n));
        return spares.keep(output(n));
      });
      expect(kept.filter(Boolean)).toHaveLength(64);
      spares.end();
      expect(readdirSync(sparesIn(state))).toEqual([]);
      expect(spares.keep(output(69))).toBe(false);
    }),
  );

  test(
    'the files of a killed worker are deleted, and those of another worker stay',
    inState((state, output) => {
      const running = createSpareOutputs(state);
      makeOutput(output(1));
      running.keep(output(1));
      const { pid } = spawnSync('true');
      makeOutput(`${sparesIn(state)}/${pidScope()}-${pid}-1`);
      const [own] = readdirSync(sparesIn(state)).filter((name) => name.includes(`-${process.pid}-`));
      createSpareOutputs(state);
      expect(readdirSync(sparesIn(state))).toEqual([own!]);
    }),
  );
});
