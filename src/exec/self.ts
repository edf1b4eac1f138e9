import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { basename } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { withoutRuntime } from './environment.ts';
import { isThisExecutable } from './executable.ts';
import { NAME } from './name.ts';

const LINK = '/proc/self/exe';

/** Settings that avoid helper threads of the runtime. A worker that cannot create such a thread (ulimit -u) would abort. */
const FEW_THREADS = {
  BUN_JSC_useConcurrentJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_numberOfGCMarkers: '1',
};

/** Replaces this process by the same program with fewer threads and with `more` variables. Only the compiled program needs it. */
export function restartWithFewThreads(more: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || !isCompiled() || process.env.BUN_JSC_useConcurrentGC === '0') return;
  process.execve?.(namedSelf(), [NAME, ...process.argv.slice(2)], {
    ...withoutRuntime(process.env),
    ...FEW_THREADS,
    ...more,
  });
}

/** Starts this program again with other arguments. */
export function startSelf(
  args: string[],
  { more, ...options }: { stdio: StdioOptions; detached?: boolean; more?: NodeJS.ProcessEnv },
): ChildProcess {
  const [file, first] = self();
  const env: NodeJS.ProcessEnv = { ...withoutRuntime(process.env), ...FEW_THREADS, ...more };
  // A worker started by a job is not one of the job's processes.
  delete env.QUEUECTL_RUN;
  crashPoint('before-start');
  const child = spawn(file, [...first, ...args], { ...options, env, ...(isCompiled() && { argv0: NAME }) });
  crashPoint('after-start');
  return child;
}

/** Returns the path of this executable if it still leads there and has our name, or else the link of the kernel to it. */
function namedSelf(): string {
  const path = process.execPath;
  return basename(path) === NAME && isThisExecutable(path) ? path : LINK;
}

function self(): [string, string[]] {
  if (!isCompiled()) return [process.execPath, [process.argv[1] ?? '']];
  // The kernel's link is used, because after an upgrade the old path is another program, or none.
  return [process.platform === 'linux' ? LINK : process.execPath, []];
}

function isCompiled(): boolean {
  return (process.argv[1] ?? '').startsWith('/$bunfs/');
}
