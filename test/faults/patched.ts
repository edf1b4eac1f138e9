import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXECUTABLE } from '../../scripts/executable.ts';

/** A piece of the source and what it is replaced with. One that is not there exactly once is an error: it would be idle. */
export interface Patch {
  file: string;
  from: string;
  to: string;
}

const ROOT = resolve(import.meta.dir, '../..');

/** The source made wrong on purpose, for the negative controls: a copy. Answers where it is. */
export function patchSource(directory: string, patches: Patch[]): string {
  const source = join(directory, 'patched');
  cpSync(join(ROOT, 'src'), join(source, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(source, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  for (const { file, from, to } of patches) {
    const path = join(source, 'src', file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2) throw new Error(`src/${file} has ${parts.length - 1} times: ${from}`);
    writeFileSync(path, parts.join(to));
  }
  return source;
}

/** The same as a program, built like the real one. */
export function patchedProgram(directory: string, patches: Patch[]): string {
  const source = patchSource(directory, patches);
  const program = join(directory, 'queuectl');
  const args = ['build', ...EXECUTABLE, 'src/cli/main.ts', '--outfile', program];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: source, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot build the patched program: ${stderr}`);
  return program;
}
