import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { inSteps } from '../core/crash-point.ts';
import { orNull } from '../core/text/language.ts';
import { withoutRuntimeVariables } from './environment.ts';
import { isThisExecutable, PROGRAM_NAME, SELF_STARTED_VARIABLE } from './program.ts';

/** The kernel's link to the executable of this process. */
const EXECUTABLE_LINK = '/proc/self/exe';

/** Settings that avoid helper threads of the runtime. A worker that cannot create such a thread (ulimit -u) would abort. */
const FEW_THREADS = {
  BUN_JSC_useConcurrentJIT: '0',
  [SELF_STARTED_VARIABLE]: '0',
  BUN_JSC_numberOfGCMarkers: '1',
};

/** Restarts the compiled program on Linux with few threads, these arguments and additional variables, unless it has few threads already. */
export function restartWithFewThreads(args: string[], variables: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || !isCompiled() || process.env[SELF_STARTED_VARIABLE] === '0') return;
  process.execve?.(namedSelf(), [PROGRAM_NAME, ...args], {
    ...withoutRuntimeVariables(process.env),
    ...FEW_THREADS,
    ...variables,
  });
}

/** Starts this program as another process, with these arguments and additional variables. */
export function startSelf(
  args: string[],
  { variables, ...options }: { stdio: StdioOptions; detached?: boolean; variables?: NodeJS.ProcessEnv },
): ChildProcess {
  const [file, ownArguments] = selfCommand();
  const env: NodeJS.ProcessEnv = { ...withoutRuntimeVariables(process.env), ...FEW_THREADS, ...variables };
  // A worker started by a job is not one of the job's processes.
  delete env.QUEUECTL_RUN;
  const spawnOptions = { ...options, env, ...(isCompiled() && { argv0: PROGRAM_NAME }) };
  return inSteps('start', () => spawn(file, [...ownArguments, ...args], spawnOptions));
}

/** Returns the path of this executable if it still leads there and ends with our name, or else the kernel's link to it. */
function namedSelf(): string {
  const path = process.execPath;
  return basename(path) === PROGRAM_NAME && isThisExecutable(path) ? path : EXECUTABLE_LINK;
}

/** Returns the program and the first arguments of a command line that starts this program. */
function selfCommand(): [string, string[]] {
  if (!isCompiled()) return [process.execPath, [process.argv[1] ?? '']];
  // The kernel's link is used, because after an upgrade the old path is another program, or none.
  return [process.platform === 'linux' ? EXECUTABLE_LINK : process.execPath, []];
}

function isCompiled(): boolean {
  return (process.argv[1] ?? '').startsWith('/$bunfs/');
}

const NICE_VALUE = 5;

/** Lowers the priority of this process, so that workers and jobs on this machine come first. */
export function lowerPriority(): void {
  // Without permission, the process keeps its priority.
  orNull(() => setPriority(NICE_VALUE));
}
