import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');

/**
 * The source made wrong on purpose, for the negative controls: a copy in which one text is replaced. A text that is not
 * there exactly once is an error: the control would be idle. Answers where the copy is.
 */
export function patchSource(directory: string, file: string, from: string, to: string): string {
  const source = join(directory, 'patched');
  cpSync(join(ROOT, 'src'), join(source, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(source, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  const path = join(source, 'src', file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${file} holds "${from}" ${parts.length - 1} times`);
  writeFileSync(path, parts.join(to));
  return source;
}

/** The same as a program: queuectl made wrong on purpose. */
export function patchedProgram(directory: string, file: string, from: string, to: string): string {
  const source = patchSource(directory, file, from, to);
  const program = join(source, 'queuectl');
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' --no-install '${source}/src/cli/main.ts' "$@"\n`,
  );
  chmodSync(program, 0o755);
  return program;
}
