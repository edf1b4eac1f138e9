import { patchedProgram } from '../faults/patched.ts';

/** The migration that the next version has and this one lacks. */
const MADE_UP = 'ALTER TABLE job ADD COLUMN made_up TEXT';

/** Builds queuectl with one more migration, as its next version may have. Returns the path of the executable. */
export function buildNextVersion(directory: string): string {
  const version = 'export const SCHEMA_VERSION =';
  return patchedProgram(directory, [
    {
      file: 'store/sqlite/migrate.ts',
      from: version,
      to: `(MIGRATIONS as string[]).push('${MADE_UP}');\n${version}`,
    },
  ]);
}

/** Runs another executable in a sandbox, in the place of its own. For RunOptions.through. */
export function insteadBy(program: string): string[] {
  return ['sh', '-c', 'shift; exec "$0" "$@"', program];
}
