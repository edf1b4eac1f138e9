import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this process may mount a file system. */
export const mayMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), 'queuectl-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe]);
  if (status === 0) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true, force: true });
  return status === 0;
})();

/** Mounts an empty file system in memory with these options, such as `size=8m`. Creates the directory. */
export function mountSmall(directory: string, options: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { status, stderr } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `${options},mode=700`,
    'tmpfs',
    directory,
  ]);
  if (status !== 0) throw new Error(`mount: ${stderr}`);
}

export function unmount(directory: string): void {
  spawnSync('umount', ['-l', directory]);
}

/** Makes this file so large that its file system is full. */
export function fill(file: string): void {
  spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4k'], { stdio: 'ignore' });
  spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1', 'oflag=append', 'conv=notrunc', 'count=8192'], {
    stdio: 'ignore',
  });
}
