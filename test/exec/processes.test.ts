import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { processes } from '../../src/exec/processes.ts';
import { attemptFiles } from '../../src/state/attempt-files.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

/** A shell that starts programs by vfork is stopped in the middle of that about every tenth time. */
const STOPS = 40;

test('every process of a suspended job counts as stopped, also a shell that is just starting a program', () =>
  inTempDir(async (directory) => {
    const { cookie } = attemptFiles(stateDirectory(directory), 'suspended', 1);
    const env = { ...process.env, QUEUECTL_RUN: cookie };
    const command = 'while :; do /bin/true; done';
    const shell = spawn('/bin/sh', ['-c', command], { env, detached: true, stdio: 'ignore' });
    const group = shell.pid!;
    const exit = new Promise((resolve) => shell.once('exit', resolve));
    try {
      for (let i = 0; i < STOPS; i++) {
        process.kill(-group, 'SIGSTOP');
        const isStopped = (): boolean => processes.find({ group, cookie }).every((one) => one.stopped);
        await until(isStopped, 'all processes are stopped');
        expect(processes.find({ group, cookie }).length).toBeGreaterThan(0);
        process.kill(-group, 'SIGCONT');
      }
    } finally {
      process.kill(-group, 'SIGKILL');
      await exit;
    }
  }));
