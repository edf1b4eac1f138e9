import { type Finding, ok, warn } from '../core/finding.ts';
import { formatBytes, formatCount } from '../core/numbers.ts';
import { processes } from '../exec/processes.ts';
import type { Leftover } from '../files/drafts.ts';
import { careOf, peekStore } from '../store/open.ts';
import { diagnoseWork } from './doctor-work.ts';
import { leftoversIn } from './leftovers.ts';

/** A lower limit of open files gets a warning. */
const MIN_FILES = 256;

/** Checks everything that queuectl depends on, and changes nothing. `whole` reads all of the database, which can take long. */
export async function diagnose(location: string, now: number, whole: boolean): Promise<Finding[]> {
  const care = await careOf(location);
  const { path, isReadable, engine, files, contents } = await care.inspect(location, whole);
  const store = isReadable ? await peekStore(location) : null;
  const stateDirectory = care.stateDirectoryOf(location);
  const leftovers = [...care.leftovers(path), ...leftoversIn(stateDirectory, store?.epoch ?? null)];
  const findings = [checkRuntime(), engine, ...checkUser(), ...files, checkLeftovers(leftovers), ...contents];
  if (store !== null) {
    findings.push(...(await diagnoseWork(store, stateDirectory, now)));
    await store.close();
  }
  return [...findings, checkOpenFiles()];
}

/** The variables that a runtime reads before it runs queuectl. They can load other code or open the port of a debugger. */
const RUNTIME_VARIABLES = { bun: /^BUN_(OPTIONS|INSPECT(_\w+)?)$/, node: /^NODE_OPTIONS$/ };

function checkRuntime(): Finding {
  const { bun, node } = process.versions;
  const name = bun === undefined ? `node ${node}` : `bun ${bun}`;
  const pattern = RUNTIME_VARIABLES[bun === undefined ? 'node' : 'bun'];
  const set = Object.keys(process.env).filter((one) => pattern.test(one));
  if (set.length > 0)
    return warn(
      'runtime',
      `${name} reads ${set.join(' and ')}, which can load other code into queuectl or open a debugger port`,
      `unset ${set.join(' ')}`,
    );
  return ok('runtime', `${name} on ${process.platform} ${process.arch}`);
}

function checkUser(): Finding[] {
  return process.getuid?.() === 0
    ? [warn('user', 'root: every job runs with full privileges', 'run the workers as another user')]
    : [];
}

function checkLeftovers(found: Leftover[]): Finding {
  if (found.length === 0) return ok('leftovers', 'none');
  const bytes = formatBytes(found.reduce((sum, one) => sum + one.bytes, 0));
  const names = found.slice(0, 3).map((one) => one.path);
  if (found.length > names.length) names.push(`${found.length - names.length} more`);
  return warn(
    'leftovers',
    `killed processes left files behind (${bytes}): ${names.join(', ')}`,
    'to remove them: queuectl worker start',
  );
}

function checkOpenFiles(): Finding {
  const limit = processes.inheritedOpenFileLimit();
  if (limit === null) return ok('open files', 'unknown');
  const found = /^\d+$/.test(limit) ? `limit of ${formatCount(Number(limit))} per job` : limit;
  return Number(limit) < MIN_FILES ? warn('open files', found, 'ulimit -n 1024') : ok('open files', found);
}
