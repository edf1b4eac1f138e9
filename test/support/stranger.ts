import { type ChildProcess, spawn } from 'node:child_process';
import { argumentsOf, uidOf } from './processes.ts';
import { until } from './queuectl.ts';

const NOBODY = '65534';

/** Whether startStranger() works: only root can start a process as another user. */
export const IS_ROOT = process.getuid?.() === 0;

/** A process of another local user. */
export interface Stranger {
  pid: number;
  child: ChildProcess;
  end(): void;
}

/** Starts a shell command as another local user in a new session. Resolves when it runs as that user. */
export async function startStranger(command: string): Promise<Stranger> {
  const user = ['--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'];
  const child = spawn('setpriv', [...user, '/bin/sh', '-c', command], {
    ...{ cwd: '/', env: { PATH: process.env.PATH }, stdio: 'ignore', detached: true },
  });
  const pid = child.pid!;
  await until(() => belongsToStranger(pid), 'the process of another user');
  return { pid, child, end: () => void process.kill(-pid, 'SIGKILL') };
}

function belongsToStranger(pid: number): boolean {
  return uidOf(pid) === Number(NOBODY) && !argumentsOf(pid)[0]!.endsWith('setpriv');
}
