import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { frameArguments } from '../../src/exec/frame.ts';
import { endProcesses } from '../../src/exec/kill.ts';
import { observeOrGate, untilOver } from '../../src/exec/observe-attempt.ts';
import { processes } from '../../src/exec/processes.ts';
import { createOutput, type Place, placeOf } from '../../src/state/place.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

let nextAttempt = 1;

function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  return inTempDir(async (directory) => {
    mkdirSync(`${directory}/attempts`);
    const place = placeOf(stateDirectory(directory), `test${process.pid}`, nextAttempt++);
    await work(place);
  });
}

/** Starts a frame in a session of its own, as a worker would. */
async function startFrame(place: Place, command: string): Promise<number> {
  const args = frameArguments({
    record: place.record,
    umask: 0o022,
    openFileLimit: null,
    command,
    argv: null,
  });
  const env = { ...process.env, QUEUECTL_RUN: place.cookie };
  const child = spawn('/bin/sh', args, { env, detached: true, stdio: 'ignore' });
  await until(() => /^(running|ended)$/.test(readRecord(place)?.kind ?? ''), 'the record is written');
  return child.pid!;
}

describe('observing an attempt', () => {
  test('waits for a live command and returns its exit code', () =>
    inPlace(async (place) => {
      const pid = await startFrame(place, 'sleep 0.3; exit 7');
      expect(await untilOver(place)).toEqual({ kind: 'ended', pid, code: 7, signalled: false });
    }));

  test('returns the exit code of a command that has already ended, from its record', () =>
    inPlace(async (place) => {
      await startFrame(place, 'exit 4');
      await until(() => readRecord(place)?.kind === 'ended', 'it has ended');
      expect(await untilOver(place)).toMatchObject({ kind: 'ended', code: 4 });
    }));

  test('returns never started without a record, and the command can no longer start', () =>
    inPlace(async (place) => {
      expect(await untilOver(place)).toEqual({ kind: 'never-started' });
      expect(createOutput(place)).toBeNull();
      expect(readRecord(place)).toEqual({ kind: 'gated' });
    }));

  test('returns lost if the frame and its command were killed', () =>
    inPlace(async (place) => {
      const pid = await startFrame(place, 'sleep 1000');
      process.kill(-pid, 'SIGKILL');
      expect(await untilOver(place)).toEqual({ kind: 'lost', pid });
    }));

  test('returns lost if the pid in the record belongs to another process now', () =>
    inPlace(async (place) => {
      // The test process is alive, but it is not the frame of that attempt.
      writeFileSync(place.record, `${String(process.pid).padEnd(10)} run  \n`);
      expect(await untilOver(place)).toEqual({ kind: 'lost', pid: process.pid });
    }));

  test('returns alive while the process lives, even if its record is missing or empty', () =>
    inPlace(async (place) => {
      const go = `${place.prefix}go`;
      const pid = await startFrame(place, `until test -e ${go}; do sleep 0.02; done; exit 6`);
      const savedRecord = readFileSync(place.record);
      writeFileSync(place.record, '');
      expect(observeOrGate(place)).toEqual({ kind: 'alive', pid });
      rmSync(place.record);
      expect(observeOrGate(place)).toEqual({ kind: 'alive', pid });
      writeFileSync(place.record, savedRecord);
      writeFileSync(go, '');
      expect(await untilOver(place)).toEqual({ kind: 'ended', pid, code: 6, signalled: false });
    }));

  test('returns never started if the record is empty, as after a start on a full disk', () =>
    inPlace(async (place) => {
      writeFileSync(place.record, '');
      expect(await untilOver(place)).toEqual({ kind: 'never-started' });
    }));

  test('returns lost, not never started, if the record cannot be read', () =>
    inPlace(async (place) => {
      writeFileSync(place.record, 'garbage');
      expect(await untilOver(place)).toEqual({ kind: 'lost', pid: null });
    }));
});

describe('endProcesses', () => {
  test('ends processes that ignore SIGTERM or have left the group', () =>
    inPlace(async (place) => {
      const command = `trap '' TERM; setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' & while :; do sleep 0.05; done`;
      const group = await startFrame(place, command);
      const target = { group, cookie: place.cookie };
      await until(
        () => new Set(processes.find(target).map((one) => one.group)).size >= 2,
        'a process has left the group',
      );
      await endProcesses(target, 100);
      expect(processes.find(target)).toEqual([]);
    }));

  test('leaves processes without the cookie alone, whatever their group', () =>
    inPlace(async (place) => {
      const bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      await until(() => processes.startTime(bystander.pid!) !== null, 'the bystander runs');
      await endProcesses({ group: bystander.pid!, cookie: place.cookie }, 10);
      expect(bystander.exitCode).toBeNull();
      expect(processes.startTime(bystander.pid!)).not.toBeNull();
      process.kill(-bystander.pid!, 'SIGKILL');
    }));
});
