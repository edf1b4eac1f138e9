import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameArguments } from '../../src/exec/frame.ts';
import { endProcesses } from '../../src/exec/kill.ts';
import { observeOrGate } from '../../src/exec/observe-attempt.ts';
import { portable, processes } from '../../src/exec/processes.ts';
import { type AttemptFiles, attemptFiles } from '../../src/state/attempt-files.ts';
import { cookieFor, cookieMatches, makeCookie, makeKey, nameIn } from '../../src/state/key.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const EPOCH = '0123456789ab';
const KEY = Buffer.alloc(32, 1);

test('a key is created once, readable for its user only, and no other file is left', () =>
  inTempDir(async (directory) => {
    makeKey(stateDirectory(directory));
    const made = readFileSync(join(directory, 'key'));
    makeKey(stateDirectory(directory));
    expect(readFileSync(join(directory, 'key'))).toEqual(made);
    expect(made).toHaveLength(32);
    expect(statSync(join(directory, 'key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['key']);
  }));

test('an invalid key file is replaced', () =>
  inTempDir(async (directory) => {
    writeFileSync(join(directory, 'key'), 'short');
    makeKey(stateDirectory(directory));
    expect(readFileSync(join(directory, 'key'))).toHaveLength(32);
  }));

test('where no key can be created, cookies are plain names', () =>
  inTempDir(async (directory) => {
    makeKey(stateDirectory(join(directory, 'missing')));
    expect(cookieFor(stateDirectory(join(directory, 'missing')), `${EPOCH}-1`)).toBe(`${EPOCH}-1`);
  }));

test('eight processes that create the key at the same time agree on one', () =>
  inTempDir(async (directory) => {
    const code = `import { makeKey, cookieFor } from '${import.meta.dir}/../../src/state/key.ts';
      import { stateDirectory } from '${import.meta.dir}/../../src/state/state-directory.ts';
      const state = stateDirectory('${directory}');
      makeKey(state); console.log(cookieFor(state, '${EPOCH}-1'));`;
    const printed = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const child = Bun.spawn([process.execPath, '--no-install', '-e', code]);
        return new Response(child.stdout).text();
      }),
    );
    expect(printed[0]).toMatch(/^0123456789ab-1-[0-9a-f]{32}\n$/);
    expect(new Set(printed).size).toBe(1);
  }));

test('a cookie is accepted with its MAC, or from a process of this user', () => {
  const cookie = makeCookie(KEY, `${EPOCH}-12`);
  const [own, foreign] = [() => true, () => false];
  expect(nameIn(cookie)).toBe(`${EPOCH}-12`);
  expect(cookieMatches(cookie, cookie, foreign)).toBe(true);
  expect(cookieMatches(`${EPOCH}-12`, cookie, foreign)).toBe(false);
  expect(cookieMatches(`${EPOCH}-12`, cookie, own)).toBe(true);
  // Without a key another user could make up any cookie.
  expect(cookieMatches(`${EPOCH}-12`, `${EPOCH}-12`, foreign)).toBe(false);
  const other = makeCookie(Buffer.alloc(32, 2), `${EPOCH}-12`);
  expect(cookieMatches(other, cookie, foreign)).toBe(false);
  expect(cookieMatches(other, cookie, own)).toBe(true);
  expect(cookieMatches(makeCookie(KEY, `${EPOCH}-13`), cookie, own)).toBe(false);
});

/** Runs a command in a frame with the given cookie while `body` runs. */
async function withFrame(
  command: string,
  cookie: (files: AttemptFiles) => string,
  body: (files: AttemptFiles, frame: number) => Promise<void>,
): Promise<void> {
  await inTempDir(async (directory) => {
    mkdirSync(join(directory, 'attempts'));
    makeKey(stateDirectory(directory));
    const files = attemptFiles(stateDirectory(directory), EPOCH, process.pid);
    const args = frameArguments({
      record: files.record,
      umask: 0o022,
      openFileLimit: null,
      command,
      argv: null,
    });
    const env = { ...process.env, QUEUECTL_RUN: cookie(files) };
    const child = spawn('/bin/sh', args, { env, detached: true, stdio: 'ignore', cwd: directory });
    await until(() => /^(running|ended)$/.test(readRecord(files)?.kind ?? ''), 'the record is written');
    try {
      await body(files, child.pid!);
    } finally {
      await endProcesses({ group: child.pid!, cookie: files.cookie }, 0);
    }
  });
}

test('a job that was started before keys existed is found and ended', () =>
  withFrame(
    'setsid sleep 1000 & sleep 1000',
    (files) => files.name,
    async (files, frame) => {
      expect(files.cookie).not.toBe(files.name);
      expect(observeOrGate(files)).toEqual({ kind: 'alive', pid: frame });
      const target = { group: frame, cookie: files.cookie };
      await until(() => processes.find(target).length >= 3, 'all its processes are found');
      await endProcesses(target, 100);
      expect(processes.find(target)).toEqual([]);
    },
  ));

test('a job that was started with a deleted key is found', () =>
  withFrame(
    'sleep 1000',
    (files) => makeCookie(KEY, files.name),
    async (files, frame) => {
      rmSync(files.record);
      expect(observeOrGate(files)).toEqual({ kind: 'alive', pid: frame });
      // This also works where cookies cannot be read.
      expect(portable.frameOf(files.cookie)).toBe(frame);
    },
  ));

test('a process that a finished command left in its own session is not a frame', () =>
  withFrame(
    'setsid sleep 1000 & exit 4',
    (files) => files.cookie,
    async (files) => {
      await until(() => readRecord(files)?.kind === 'ended', 'the command has ended');
      await until(() => processes.frameOf(files.cookie) === null, 'the frame is gone');
      await until(() => processes.find({ cookie: files.cookie, group: -1 }).length > 0, 'the sleep is left');
      expect(observeOrGate(files)).toMatchObject({ kind: 'ended', code: 4 });
    },
  ));
