import { QueueError } from '../../core/errors.ts';

/** The version of the schema in tables.ts. Stores of older versions, such as those of queuectl 0.2.0, cannot be migrated. */
export const FIRST_VERSION = 27;
/** The newest schema version. It is written out, so that commands do not load the migrations. */
export const SCHEMA_VERSION = 27;

/** The version of a stored schema. Both numbers are 0 if there is no queue. */
export interface StoredVersion {
  version: number;
  /** Programs that know this version, or a newer one, can use the store. */
  oldest: number;
}

/** The words about a store in the errors below. */
interface VersionedStore {
  name: string;
  /** Says how to make room for a new store at the same place. */
  remove: string;
  /** Says what to do if the schema is newer, if it is more than the usual hint. */
  upgrade?: string;
}

/** Throws if this program is too old for a schema, as after a newer one has migrated it, or if no migration starts at its version. */
export function refuseUnsupported(
  { version, oldest }: StoredVersion,
  { name, remove, upgrade }: VersionedStore,
  known = SCHEMA_VERSION,
): void {
  if (version > 0 && version < FIRST_VERSION)
    throw new QueueError(
      'older-schema',
      `${name} has schema version ${version}; this version of queuectl supports versions from ${FIRST_VERSION} on`,
      [
        'export it with the older queuectl (queuectl export FILE)',
        remove,
        'then run queuectl import FILE',
      ].join(', '),
    );
  if (oldest > known)
    throw new QueueError(
      'newer-schema',
      `${name} has schema version ${version}; this version of queuectl supports versions up to ${known}`,
      upgrade,
    );
}

/** Throws if a schema that is supported has to be migrated first. */
export function refuseOlder({ version }: Pick<StoredVersion, 'version'>, name: string): void {
  if (version === 0 || version >= SCHEMA_VERSION) return;
  throw new QueueError(
    'older-schema',
    `${name} has schema version ${version}; this version of queuectl needs version ${SCHEMA_VERSION}`,
  );
}
