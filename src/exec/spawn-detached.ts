import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface SpawnOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The descriptors 0, 1, 2 and so on of the program. `ignore` means /dev/null. */
  stdio: (number | 'ignore')[];
}

/** Is called when the program has ended, with its exit code or the name of the signal that ended it. */
export type OnExit = (code: number | null, signal: NodeJS.Signals | null) => void;

/** Starts a program in a session of its own, and does not keep this process alive for it. Returns its pid. Throws if it cannot be started. */
export const spawnDetached: (
  command: string[],
  options: SpawnOptions,
  onExit: OnExit,
) => number | Promise<number> = process.versions.bun === undefined ? spawnWithNode : spawnWithBun;

/** Uses the function of Bun, which takes less than half of the time that its node:child_process takes. */
function spawnWithBun(command: string[], options: SpawnOptions, onExit: OnExit): number {
  const child = Bun.spawn(command, {
    ...options,
    stdio: options.stdio as [number, number, number],
    detached: true,
    onExit: ({ exitCode, signalCode }) => onExit(exitCode, signalCode as NodeJS.Signals | null),
  });
  child.unref();
  return child.pid;
}

async function spawnWithNode(command: string[], options: SpawnOptions, onExit: OnExit): Promise<number> {
  const child = spawn(command[0]!, command.slice(1), { ...options, detached: true });
  if (child.pid === undefined) throw (await once(child, 'error'))[0];
  child.once('error', () => {});
  child.once('exit', onExit);
  child.unref();
  return child.pid;
}
