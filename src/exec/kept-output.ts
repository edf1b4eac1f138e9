import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The attempts of an epoch that have a directory there. */
export function attemptsIn(stateDirectory: string, epoch: string): number[] {
  const prefix = `${epoch}-`;
  try {
    return readdirSync(join(stateDirectory, 'attempts'))
      .filter((name) => name.startsWith(prefix))
      .map((name) => Number(name.slice(prefix.length)))
      .filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Copies what an attempt wrote, with its gaps; not its record, which belongs to the attempt itself. */
export function copyOutput(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) {
    const file = join(from, name);
    if (!/^(out(\.short)?|gap-\d+-\d+)$/.test(name) || !lstatSync(file).isFile()) continue;
    copyFileSync(file, join(to, name), constants.COPYFILE_FICLONE);
    chmodSync(join(to, name), 0o600);
  }
}
