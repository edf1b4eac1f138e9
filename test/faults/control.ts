import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXECUTABLE } from '../../scripts/executable.ts';
import { inTempDir } from '../support/temp-dir.ts';
import type { Fault } from './fault.ts';

/** A piece of the source and what it is replaced with; it must be there exactly once. */
export interface Patch {
  file: string;
  from: string;
  to: string;
}

/** The program with one safeguard taken out, under a fault that it is there for: the checker must notice. */
export interface Control {
  name: string;
  patches: Patch[];
  fault: Fault;
  scale: number;
  /** One of these must be found. Empty: nothing may be found, the patch alone is harmless. */
  found: string[];
}

const ROOT = resolve(import.meta.dir, '../..');

/** What the fault finds in the patched program. */
export async function runControl(control: Control, seed: number): Promise<string[]> {
  return inTempDir(async (directory) => {
    const program = build(directory, control.patches);
    const { violations } = await control.fault.run(control.scale, seed, program);
    return [...new Set(violations.map((one) => one.kind))];
  });
}

function build(directory: string, patches: Patch[]): string {
  cpSync(join(ROOT, 'src'), join(directory, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const { file, from, to } of patches) {
    const path = join(directory, 'src', file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2) throw new Error(`src/${file} has ${parts.length - 1} times: ${from}`);
    writeFileSync(path, parts.join(to));
  }
  const program = join(directory, 'bin', 'queuectl');
  mkdirSync(join(directory, 'bin'));
  const args = ['build', ...EXECUTABLE, 'src/cli/main.ts', '--outfile', program];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot build the patched program: ${stderr}`);
  return program;
}
