import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A piece of the source and its replacement. `file` is a path in src/. The piece must occur exactly once. */
export interface Patch {
  file: string;
  from: string;
  to: string;
}

const ROOT = resolve(import.meta.dir, '../..');

/** Copies the source into a subdirectory and applies the patches. Returns the path of the copy. */
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

/** Builds the patched source like the real program. Returns the path of the executable. */
export function patchedProgram(directory: string, patches: Patch[]): string {
  const source = patchSource(directory, patches);
  const program = join(directory, 'queuectl');
  const args = ['--no-install', join(ROOT, 'scripts/compile.ts'), 'src/cli/main.ts', program];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: source, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot build the patched program: ${stderr}`);
  return program;
}
