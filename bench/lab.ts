import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory and the programs of one run of the benchmarks. */
export interface Lab {
  directory: string;
  /** A copy of the executable, so that a build at the same time does not change what is measured. */
  queuectl: string;
  /** The paths of the programs in bench/c, or null if there is no C compiler. */
  tools: Record<'times' | 'loop' | 'stamp', string> | null;
  environment: NodeJS.ProcessEnv;
  /** The size of the large store of `scale`, relative to the whole. */
  size: number;
  /** Returns an empty directory with this name. Removes an older one. */
  emptyDirectory(name: string): string;
  /** Returns the path of bench/programs/NAME.ts, compiled like the executable. */
  program(name: string): string;
  remove(): void;
}

const ROOT = join(import.meta.dirname, '..');
const COMMAND_TIMEOUT_MS = 120_000;

export function openLab(size: number): Lab {
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-bench-'));
  const queuectl = join(directory, 'queuectl');
  copyFileSync(join(ROOT, 'dist/queuectl'), queuectl);
  readAgain(queuectl);
  const lab: Lab = {
    directory,
    queuectl,
    tools: null,
    environment: cleanEnvironment(join(directory, 'home')),
    size,
    emptyDirectory(name) {
      const path = join(directory, name);
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    program(name) {
      const file = join(directory, `program-${name}`);
      if (existsSync(file)) return file;
      compileProgram(name, file);
      readAgain(file);
      return file;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
  lab.tools = compileTools(directory);
  return lab;
}

/**
 * Removes a program from the memory of the kernel and reads it from the disk, as after an installation. How a file was written changes
 * the pages in which it is kept, and so how fast it starts, by up to five percent.
 */
function readAgain(file: string): void {
  // Only pages that are on the disk can be removed from memory.
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  const dropped = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'], {
    encoding: 'utf8',
  });
  if (dropped.status !== 0) process.stderr.write(`cannot remove ${file} from memory: ${dropped.stderr}\n`);
  readFileSync(file);
}

/** Creates an empty store without stored settings. Commands that only read create none. */
export function createStore(lab: Lab, environment: NodeJS.ProcessEnv): void {
  runOrThrow(lab, [lab.queuectl, 'config', 'set', 'max-retries', '3'], environment);
  runOrThrow(lab, [lab.queuectl, 'config', 'unset', 'max-retries'], environment);
}

/** Runs a command and returns its output. Throws if it fails. */
export function runOrThrow(lab: Lab, command: string[], environment: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command[0]!, command.slice(1), {
    encoding: 'utf8',
    cwd: lab.directory,
    env: { ...lab.environment, ...environment },
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: 1 << 28,
  });
  if (status === 0) return stdout;
  throw new Error(`${command.slice(0, 3).join(' ')}: ${error?.message ?? `exit code ${status}: ${stderr}`}`);
}

/** Returns this environment without variables that name another queue or change the runtime of the executable. */
function cleanEnvironment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(QUEUECTL_|BUN_|NODE_)/.test(name));
  // Every login shell sets USER. Without it, each command looks the name of the user up.
  return { USER: 'bench', ...Object.fromEntries(kept), QUEUECTL_HOME: home };
}

function compileTools(directory: string): Lab['tools'] {
  if (Bun.which('cc') === null) return null;
  const compile = (name: string): string => {
    const file = join(directory, name);
    const made = spawnSync('cc', ['-O2', '-o', file, join(ROOT, `bench/c/${name}.c`)], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`bench/c/${name}.c does not compile:\n${made.stderr}`);
    return file;
  };
  return { times: compile('times'), loop: compile('loop'), stamp: compile('stamp') };
}

function compileProgram(name: string, file: string): void {
  const args = [
    '--no-install',
    join(ROOT, 'scripts/compile.ts'),
    join(ROOT, `bench/programs/${name}.ts`),
    file,
  ];
  const made = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (made.status !== 0) throw new Error(`bench/programs/${name}.ts does not compile:\n${made.stderr}`);
}
