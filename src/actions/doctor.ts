import { QueueError } from '../core/errors.ts';
import { formatBytes } from '../core/numbers.ts';
import { isSqliteSound, OLDEST_SQLITE } from '../core/sqlite-version.ts';
import type { Leftover } from '../exec/drafts.ts';
import { processes } from '../exec/processes.ts';
import { inspectStore, peekStore, type StoreFacts } from '../store/open.ts';
import { diagnoseWork } from './doctor-work.ts';
import { leftoversOf } from './leftovers.ts';
import { refuseLook } from './store-files.ts';

export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  says: string;
  /** The command that helps, or what to do. */
  fix: string | null;
}

export const ok = (check: string, says: string): Finding => ({ check, status: 'ok', says, fix: null });
export const warn = (check: string, says: string, fix: string | null): Finding => ({
  ...{ check, status: 'warn', says, fix },
});
const fail = (check: string, says: string, fix: string | null): Finding => ({
  ...{ check, status: 'fail', says, fix },
});

const LOW_DISK = 256 * 1024 ** 2;
const NO_DISK = 16 * 1024 ** 2;
const LARGE_WAL = 64 * 1024 ** 2;
const FULL_SYNC = 2;
const FEW_FILES = 256;

/**
 * Looks at everything queuectl stands on, and changes nothing: it makes no store and migrates none. `whole`: the database
 * is read to its end, which takes its time with a large one.
 */
export async function diagnose(location: string, now: number, whole: boolean): Promise<Finding[]> {
  const facts = await inspectStore(location, whole, await refusalOf(location));
  const isReadable = facts.schema?.found === facts.schema?.known && facts.error === undefined && facts.exists;
  const store = isReadable ? await peekStore(location) : null;
  const left = leftoversOf(facts.path, store?.epoch ?? null);
  const findings = [runtime(), sqlite(), ...user(), ...files(facts), leftovers(left)];
  if (facts.exists) findings.push(...inside(facts));
  if (store !== null) {
    findings.push(...(await diagnoseWork(store, facts.stateDirectory, now)));
    await store.close();
  }
  return [...findings, openFiles()];
}

/** Why the store must not be opened, not even to look into it. */
async function refusalOf(location: string): Promise<NonNullable<StoreFacts['error']> | null> {
  try {
    await refuseLook(location);
    return null;
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    return { says: error.message, fix: error.hint };
  }
}

/** Variables that the runtime obeys before any code of ours: they load other code, or open a debugger's port. */
const RUNTIME_OBEYS = { bun: /^BUN_(OPTIONS|INSPECT(_\w+)?)$/, node: /^NODE_OPTIONS$/ };

function runtime(): Finding {
  const { bun, node } = process.versions;
  const name = bun === undefined ? `node ${node}` : `bun ${bun}`;
  const obeyed = RUNTIME_OBEYS[bun === undefined ? 'node' : 'bun'];
  const set = Object.keys(process.env).filter((one) => obeyed.test(one));
  if (set.length > 0)
    return warn(
      'runtime',
      `${name} reads ${set.join(' and ')}, which can load other code into queuectl or open a debugger port`,
      `unset ${set.join(' ')}`,
    );
  return ok('runtime', `${name} on ${process.platform} ${process.arch}`);
}

function user(): Finding[] {
  return process.getuid?.() === 0
    ? [warn('user', 'root: every job runs with full privileges', 'run the workers as another user')]
    : [];
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
      ? fail('disk', disk, 'queuectl prune, or free some disk space')
      : freeBytes < LOW_DISK
        ? warn('disk', disk, 'queuectl prune, or free some disk space')
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

function leftovers(found: Leftover[]): Finding {
  if (found.length === 0) return ok('leftovers', 'none');
  const bytes = formatBytes(found.reduce((sum, one) => sum + one.bytes, 0));
  const names = found.slice(0, 3).map((one) => one.path);
  if (found.length > names.length) names.push(`${found.length - names.length} more`);
  return warn(
    'leftovers',
    `killed processes left ${bytes} behind: ${names.join(', ')}`,
    'queuectl worker start, which removes them',
  );
}

function inside(facts: StoreFacts): Finding[] {
  if (facts.error !== undefined) return [fail('database', facts.error.says, facts.error.fix)];
  const { schema, problems, walBytes } = facts;
  return [
    facts.journalMode === 'wal'
      ? ok('journal mode', 'wal')
      : warn('journal mode', `${facts.journalMode}; the next command switches it to wal`, 'queuectl status'),
    facts.synchronous === FULL_SYNC
      ? ok('synchronous', 'full')
      : fail('synchronous', String(facts.synchronous), 'this is a bug: please report it'),
    walBytes >= LARGE_WAL
      ? warn(
          'wal',
          `${formatBytes(walBytes)}: a long-running reader keeps it from shrinking`,
          'stop that process; fuser lists it',
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

function openFiles(): Finding {
  const limit = processes.inheritedOpenFiles();
  if (limit === null) return ok('open files', 'unknown');
  return Number(limit) < FEW_FILES
    ? warn('open files', `limit of ${limit} per job`, 'ulimit -n 1024')
    : ok('open files', `limit of ${limit} per job`);
}
