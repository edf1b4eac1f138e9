import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { frameArguments } from '../../src/exec/frame.ts';
import { freezeCommand } from '../../src/exec/freeze.ts';
import { endProcesses } from '../../src/exec/kill.ts';
import { processes } from '../../src/exec/processes.ts';
import { type Place, placeOf } from '../../src/state/place.ts';
import { readRecord } from '../../src/state/record.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

let nextAttempt = 1;

/** Returns a test that runs a command in a frame, as a worker would, and ends all processes that are left of it. */
function withFrame(
  command: string,
  body: (place: Place, frame: number, exit: Promise<unknown>) => Promise<void>,
): () => Promise<void> {
  return () =>
    inTempDir(async (directory) => {
      mkdirSync(`${directory}/attempts`);
      const place = placeOf(stateDirectory(directory), `freeze${process.pid}`, nextAttempt++);
      const args = frameArguments({
        record: place.record,
        umask: 0o022,
        openFileLimit: null,
        command,
        argv: null,
      });
      const env = { ...process.env, QUEUECTL_RUN: place.cookie };
      const child = spawn('/bin/sh', args, { env, detached: true, stdio: 'ignore', cwd: directory });
      const exit = new Promise((resolve) => child.once('exit', resolve));
      await until(() => /^(running|ended)$/.test(readRecord(place)?.kind ?? ''), 'the record is written');
      try {
        await body(place, child.pid!, exit);
      } finally {
        await endProcesses({ group: child.pid!, cookie: place.cookie }, 0);
      }
    });
}

const endCheckOf = (place: Place) => () => readRecord(place)?.kind === 'ended';

describe('freezeCommand', () => {
  test(
    'stops a running command',
    withFrame('until test -e go; do :; done', async (place, frame) => {
      const target = { group: frame, cookie: place.cookie };
      expect(await freezeCommand(target, endCheckOf(place))).toBe(true);
      expect(processes.stateOf(processes.newestChildOf(frame)!, frame)).toBe('stopped');
    }),
  );

  test(
    'returns false after the command has ended',
    withFrame('exit 3', async (place, frame) => {
      const target = { group: frame, cookie: place.cookie };
      await until(() => processes.newestChildOf(frame) === null, 'the command has ended');
      expect(await freezeCommand(target, endCheckOf(place))).toBe(false);
      expect(readRecord(place)).toMatchObject({ kind: 'ended', code: 3, signalled: false });
    }),
  );

  test(
    'returns false after the command has ended, even if some of its processes are left',
    withFrame('sleep 60 & exit 0', async (place, frame, exit) => {
      await exit;
      expect(processes.find({ cookie: place.cookie, group: frame })).not.toEqual([]);
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(false);
    }),
  );

  test(
    'continues a stopped frame whose command has ended, so that it records the end',
    withFrame('sleep 0.3', async (place, frame) => {
      await until(() => processes.newestChildOf(frame) !== null, 'the command runs');
      process.kill(frame, 'SIGSTOP');
      await until(() => processes.newestChildOf(frame) === null, 'the command has ended');
      expect(endCheckOf(place)()).toBe(false);
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(false);
      expect(readRecord(place)).toMatchObject({ kind: 'ended', code: 0 });
    }),
  );

  test(
    'lets a stopped shell end if its program has ended',
    withFrame('sleep 0.3', async (place, frame) => {
      // A plain command runs in a subshell of the frame. This subshell is stopped while its program ends.
      const subshell = await until(() => processes.newestChildOf(frame), 'the subshell runs');
      await until(() => processes.newestChildOf(subshell) !== null, 'the program runs');
      process.kill(subshell, 'SIGSTOP');
      await until(() => processes.newestChildOf(subshell) === null, 'the program has ended');
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(false);
      expect(readRecord(place)).toMatchObject({ kind: 'ended', code: 0, signalled: false });
    }),
  );

  test(
    'stops the program that a shell waits for, not only the shell',
    withFrame('sleep 60', async (place, frame) => {
      const subshell = await until(() => processes.newestChildOf(frame), 'the subshell runs');
      const program = await until(() => processes.newestChildOf(subshell), 'the program runs');
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(true);
      expect([processes.stateOf(subshell), processes.stateOf(program)]).toEqual(['stopped', 'stopped']);
    }),
  );

  test(
    'does not continue a suspended command',
    withFrame('while :; do echo x; done >>lines', async (place, frame) => {
      const lines = join(place.state.path, 'lines');
      await until(() => existsSync(lines) && statSync(lines).size > 0, 'the command is at work');
      process.kill(-frame, 'SIGSTOP');
      const stopped = () =>
        [frame, processes.newestChildOf(frame)!].every((pid) => processes.stateOf(pid) === 'stopped');
      await until(stopped, 'every process is stopped');
      const { size } = statSync(lines);
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(true);
      expect(statSync(lines).size).toBe(size);
    }),
  );

  test(
    'does not stop processes that have left the session',
    withFrame('setsid sleep 60 & sleep 60', async (place, frame) => {
      const shell = await until(() => processes.newestChildOf(frame), 'the shell runs');
      const outsider = await until(
        () =>
          processes
            .find({ cookie: place.cookie, group: frame })
            .find((one) => one.group === one.pid && one.pid !== frame),
        'a process has left the session',
      );
      await until(() => processes.newestChildInSession(shell), 'the other sleep runs');
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(true);
      expect(processes.stateOf(shell)).toBe('stopped');
      expect(processes.stateOf(outsider.pid)).not.toBe('stopped');
    }),
  );

  test(
    'returns true if the frame was killed and its command is left',
    withFrame('sleep 60', async (place, frame, exit) => {
      process.kill(frame, 'SIGKILL');
      await exit;
      expect(await freezeCommand({ group: frame, cookie: place.cookie }, endCheckOf(place))).toBe(true);
    }),
  );

  test(
    'returns false if both the command and its frame were killed',
    withFrame('sleep 60', async (place, frame, exit) => {
      process.kill(-frame, 'SIGKILL');
      await exit;
      const target = { group: frame, cookie: place.cookie };
      await until(
        () => processes.find({ cookie: place.cookie, group: frame }).length === 0,
        'nothing is left',
      );
      expect(await freezeCommand(target, endCheckOf(place))).toBe(false);
    }),
  );
});
