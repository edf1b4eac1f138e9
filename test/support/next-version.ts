import { SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { patchedProgram } from '../faults/patched-source.ts';

/** A migration that only the next version has. */
const MADE_UP_MIGRATION = 'ALTER TABLE job ADD COLUMN made_up TEXT';

/** Builds queuectl with one more migration, as its next version may have. Returns the path of the executable. */
export function buildNextVersion(directory: string): string {
  return patchedProgram(directory, [
    {
      file: 'store/schema/version.ts',
      from: `SCHEMA_VERSION = ${SCHEMA_VERSION}`,
      to: `SCHEMA_VERSION = ${SCHEMA_VERSION + 1}`,
    },
    {
      file: 'store/schema/migrations.ts',
      from: 'SchemaMigration[] = [',
      to: `SchemaMigration[] = [{ sql: '${MADE_UP_MIGRATION}', keepsPrograms: false },`,
    },
  ]);
}

/** Returns the value of RunOptions.through that runs `program` instead of the executable of the sandbox. */
export function throughProgram(program: string): string[] {
  return ['sh', '-c', 'shift; exec "$0" "$@"', program];
}
