import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, linkSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameArguments } from '../../src/exec/frame.ts';
import { isOutOfSight, type Lifeline, makeLifeline, sweepLifelines } from '../../src/exec/lifeline.ts';
import { observeOrGate, untilOver } from '../../src/exec/observe-attempt.ts';
import { type AttemptFiles, attemptFiles } from '../../src/state/attempt-files.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const LONG_AGO = new Date(Date.now() - 3_600_000);

interface Scene {
  directory: string;
  files: AttemptFiles;
  lifeline: Lifeline;
}

function inScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(join(directory, 'attempts'));
    const files = attemptFiles(stateDirectory(directory), `line${process.pid}`, 1);
    const lifeline = await makeLifeline(stateDirectory(directory), 'worker1');
    await work({ directory, files, lifeline: lifeline! });
  });
}

/** Starts a frame as if in another pid namespace: without a cookie, and with a link to the pipe named for that namespace. */
function startUnseenFrame({ directory, files, lifeline }: Scene, command: string): number {
  linkSync(join(directory, 'lifelines', lifeline.name), join(directory, 'lifelines', `1${lifeline.name}`));
  const args = frameArguments({
    ...{ record: files.record, umask: 0o022, openFileLimit: null, command, argv: null },
    lifeline: `1${lifeline.name}`,
  });
  return spawn('/bin/sh', args, { detached: true, stdio: ['ignore', 'ignore', 'ignore', lifeline.fd] }).pid!;
}

describe('a lifeline', () => {
  test('is held by the frame while it lives, so that an unseen attempt is not considered lost', () =>
    inScene(async (scene) => {
      const { files, lifeline } = scene;
      const pid = startUnseenFrame(scene, 'sleep 1000');
      await until(() => readRecord(files)?.kind === 'running', 'the job runs');
      closeSync(lifeline.fd);
      expect(isOutOfSight(files)).toBe(true);
      expect(observeOrGate(files)).toEqual({ kind: 'unseen' });
      process.kill(-pid, 'SIGKILL');
      await until(() => !isOutOfSight(files), 'the lifeline is released');
      expect(await untilOver(files)).toEqual({ kind: 'lost', pid });
    }));

  test('is not held by processes that a command leaves behind, which do not inherit it', () =>
    inScene(async (scene) => {
      const { directory, files, lifeline } = scene;
      const pid = startUnseenFrame(scene, 'sleep 1000 & exit 0');
      closeSync(lifeline.fd);
      await until(() => readRecord(files)?.kind === 'ended', 'it has ended');
      const alias = join(directory, 'lifelines', `1${lifeline.name}`);
      utimesSync(alias, LONG_AGO, LONG_AGO);
      await until(() => {
        sweepLifelines(stateDirectory(directory), Date.now());
        return !existsSync(alias);
      }, 'the lifeline is removed');
      process.kill(-pid, 'SIGKILL');
    }));

  test('is removed when nothing holds it, but not while it is young', () =>
    inScene(async ({ directory, lifeline }) => {
      const path = join(directory, 'lifelines', lifeline.name);
      utimesSync(path, LONG_AGO, LONG_AGO);
      sweepLifelines(stateDirectory(directory), Date.now());
      expect(existsSync(path)).toBe(true);
      closeSync(lifeline.fd);
      utimesSync(path, new Date(), new Date());
      sweepLifelines(stateDirectory(directory), Date.now());
      expect(existsSync(path)).toBe(true);
      utimesSync(path, LONG_AGO, LONG_AGO);
      sweepLifelines(stateDirectory(directory), Date.now());
      expect(existsSync(path)).toBe(false);
    }));

  test('is not used for an attempt of this pid namespace, where the process table decides', () =>
    inScene(async ({ files, lifeline }) => {
      writeFileSync(files.record, `${'1'.padEnd(10)} run   ${lifeline.name}\n`);
      expect(readRecord(files)).toEqual({ kind: 'running', pid: 1, lifeline: lifeline.name });
      expect(isOutOfSight(files)).toBe(false);
      expect(observeOrGate(files)).toEqual({ kind: 'lost', pid: 1 });
    }));
});
