import { QueueError } from '../../core/errors.ts';
import type { PostgresLocation } from './location.ts';

/** The schema version that schema.ts creates. */
export const FIRST_VERSION = 1;
/** The SQL of each migration, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [];
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;

/** Throws if the schema is newer than this version of queuectl supports, as after a newer queuectl has migrated it. */
export function refuseNewer(found: number, { name }: PostgresLocation, known = SCHEMA_VERSION): void {
  if (found <= known) return;
  throw new QueueError(
    'newer-schema',
    `${name} has schema version ${found}; this version of queuectl supports versions up to ${known}`,
  );
}

/** Throws if the schema has to be migrated before this version of queuectl can use it. */
export function refuseOlder(found: number, { name }: PostgresLocation): void {
  if (found === 0 || found >= SCHEMA_VERSION) return;
  throw new QueueError(
    'older-schema',
    `${name} has schema version ${found}; this version of queuectl needs version ${SCHEMA_VERSION}`,
  );
}
