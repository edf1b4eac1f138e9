import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { frameArguments } from '../../src/exec/frame.ts';
import { endProcesses } from '../../src/exec/kill.ts';
import { gateTime } from '../../src/exec/lease-clock.ts';
import { observeOrGate, untilOver } from '../../src/exec/observe-attempt.ts';
import { processes } from '../../src/exec/processes.ts';
import { type AttemptFiles, attemptFiles, createOutput } from '../../src/state/attempt-files.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

let nextAttempt = 1;

function inPlace(work: (files: AttemptFiles) => Promise<void>): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const files = attemptFiles(stateDirectory(directory), `test${process.pid}`, nextAttempt++);
    await work(files);
  });
}

/** Starts a frame in a session of its own, as a worker would. */
async function startFrame(files: AttemptFiles, command: string): Promise<number> {
  const args = frameArguments({
    record: files.record,
    umask: 0o022,
    openFileLimit: null,
    command,
    argv: null,
  });
  const env = { ...process.env, QUEUECTL_RUN: files.cookie };
  const child = spawn('/bin/sh', args, { env, detached: true, stdio: 'ignore' });
  await until(() => /^(running|ended)$/.test(readRecord(files)?.kind ?? ''), 'the record is written');
  return child.pid!;
}

describe('observing an attempt', () => {
  test('waits for a live command and returns its exit code', () =>
    inPlace(async (files) => {
      const pid = await startFrame(files, 'sleep 0.3; exit 7');
      expect(await untilOver(files)).toEqual({ kind: 'ended', pid, code: 7, signalled: false });
    }));

  test('returns the exit code of a command that has already ended, from its record', () =>
    inPlace(async (files) => {
      await startFrame(files, 'exit 4');
      await until(() => readRecord(files)?.kind === 'ended', 'it has ended');
      expect(await untilOver(files)).toMatchObject({ kind: 'ended', code: 4 });
    }));

  test('returns never started without a record, and the command can no longer start', () =>
    inPlace(async (files) => {
      expect(await untilOver(files)).toEqual({ kind: 'never-started' });
      expect(createOutput(files)).toBeNull();
      expect(readRecord(files)).toEqual({ kind: 'gated', at: gateTime() });
    }));

  test('returns lost if the frame and its command were killed', () =>
    inPlace(async (files) => {
      const pid = await startFrame(files, 'sleep 1000');
      process.kill(-pid, 'SIGKILL');
      expect(await untilOver(files)).toEqual({ kind: 'lost', pid });
    }));

  test('returns lost if the pid in the record belongs to another process now', () =>
    inPlace(async (files) => {
      // The test process is alive, but it is not the frame of that attempt.
      writeFileSync(files.record, `${String(process.pid).padEnd(10)} run  \n`);
      expect(await untilOver(files)).toEqual({ kind: 'lost', pid: process.pid });
    }));

  test('returns alive while the process lives, even if its record is missing or empty', () =>
    inPlace(async (files) => {
      const go = `${files.prefix}go`;
      const pid = await startFrame(files, `until test -e ${go}; do sleep 0.02; done; exit 6`);
      const savedRecord = readFileSync(files.record);
      writeFileSync(files.record, '');
      expect(observeOrGate(files)).toEqual({ kind: 'alive', pid });
      rmSync(files.record);
      expect(observeOrGate(files)).toEqual({ kind: 'alive', pid });
      writeFileSync(files.record, savedRecord);
      writeFileSync(go, '');
      expect(await untilOver(files)).toEqual({ kind: 'ended', pid, code: 6, signalled: false });
    }));

  test('returns never started if the record is empty, as after a start on a full disk', () =>
    inPlace(async (files) => {
      writeFileSync(files.record, '');
      expect(await untilOver(files)).toEqual({ kind: 'never-started' });
    }));

  test('returns lost, not never started, if the record cannot be read', () =>
    inPlace(async (files) => {
      writeFileSync(files.record, 'garbage');
      expect(await untilOver(files)).toEqual({ kind: 'lost', pid: null });
    }));
});

describe('endProcesses', () => {
  test('ends processes that ignore SIGTERM or have left the group', () =>
    inPlace(async (files) => {
      const command = `trap '' TERM; setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' & while :; do sleep 0.05; done`;
      const group = await startFrame(files, command);
      const target = { group, cookie: files.cookie };
      await until(
        () => new Set(processes.find(target).map((one) => one.group)).size >= 2,
        'a process has left the group',
      );
      await endProcesses(target, 100);
      expect(processes.find(target)).toEqual([]);
    }));

  test('leaves processes without the cookie alone, whatever their group', () =>
    inPlace(async (files) => {
      const bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      await until(() => processes.startTime(bystander.pid!) !== null, 'the bystander runs');
      await endProcesses({ group: bystander.pid!, cookie: files.cookie }, 10);
      expect(bystander.exitCode).toBeNull();
      expect(processes.startTime(bystander.pid!)).not.toBeNull();
      process.kill(-bystander.pid!, 'SIGKILL');
    }));
});
