import { type Finding, fail, ok, warn } from '../../../core/finding.ts';
import { formatBytes } from '../../../core/numbers.ts';
import type { Inspection } from '../../contract/file-care.ts';
import { isSqliteSound, OLDEST_SQLITE } from '../sqlite-version.ts';
import { factsOf, type StoreFacts } from './facts.ts';

const LOW_DISK = 256 * 1024 ** 2;
const NO_DISK = 16 * 1024 ** 2;
const LARGE_WAL = 64 * 1024 ** 2;
const FULL_SYNC = 2;

export async function inspectSqlite(location: string, whole: boolean): Promise<Inspection> {
  const facts = await factsOf(location, whole);
  const { path, exists, schema, error } = facts;
  return {
    path,
    isReadable: exists && error === undefined && schema?.found === schema?.known,
    engine: sqlite(),
    files: files(facts),
    contents: exists ? contents(facts) : [],
  };
}

function sqlite(): Finding {
  const version = process.versions.sqlite ?? 'unknown';
  if (isSqliteSound(version)) return ok('sqlite', version);
  return fail(
    'sqlite',
    `${version} can corrupt a database in WAL mode; ${OLDEST_SQLITE} or newer is needed`,
    'run the queuectl executable, or use a newer Node',
  );
}

function files(facts: StoreFacts): Finding[] {
  const { fileSystem, freeBytes } = facts;
  const disk = `${formatBytes(freeBytes)} free`;
  return [
    store(facts),
    fileSystem.network
      ? warn(
          'file system',
          `${fileSystem.name}: SQLite is only safe on local disks`,
          'queuectl --db /a/local/path …',
        )
      : ok('file system', fileSystem.name ?? 'local'),
    freeBytes < NO_DISK
      ? fail('disk', disk, 'free some disk space, or run queuectl prune')
      : freeBytes < LOW_DISK
        ? warn('disk', disk, 'free some disk space, or run queuectl prune')
        : ok('disk', disk),
    ...permissions(facts),
  ];
}

function store({ exists, path, error }: StoreFacts): Finding {
  if (exists) return ok('store', path);
  return error === undefined
    ? ok('store', `none yet; the first enqueue creates ${path}`)
    : fail('store', error.says, error.fix);
}

function permissions({ exists, unsafe, readable }: StoreFacts): Finding[] {
  const found = unsafe.map((one) => fail('permissions', one.says, one.fix));
  for (const one of readable)
    found.push(
      warn('permissions', `other users can read ${one}`, `chmod go= ${one.replace(/ \(\d+\)$/, '')}`),
    );
  if (found.length > 0) return found;
  return exists ? [ok('permissions', 'no other user can read, write or replace the files')] : [];
}

function contents(facts: StoreFacts): Finding[] {
  if (facts.error !== undefined) return [fail('database', facts.error.says, facts.error.fix)];
  const { schema, problems, walBytes } = facts;
  return [
    facts.journalMode === 'wal'
      ? ok('journal mode', 'wal')
      : warn('journal mode', `${facts.journalMode}; the next command switches it to wal`, 'queuectl status'),
    facts.synchronous === FULL_SYNC
      ? ok('synchronous', 'full')
      : fail('synchronous', String(facts.synchronous), 'this is a bug. Please report it'),
    walBytes >= LARGE_WAL
      ? warn(
          'wal',
          `${formatBytes(walBytes)}: a long-running reader keeps it from shrinking`,
          'find that process with fuser or lsof, and stop it',
        )
      : ok('wal', formatBytes(walBytes)),
    ...(problems === undefined ? [] : [quickCheck(problems)]),
    schema!.found === schema!.known
      ? ok('schema', `version ${schema!.found}`)
      : warn(
          'schema',
          `version ${schema!.found}; this version of queuectl needs version ${schema!.known}`,
          'queuectl db migrate',
        ),
  ];
}

function quickCheck(problems: string[]): Finding {
  return problems.length === 0
    ? ok('quick check', 'no problems found')
    : fail('quick check', problems.slice(0, 3).join('; '), 'queuectl db check; queuectl db repair');
}
