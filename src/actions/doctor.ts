import { type Finding, ok, warn } from '../core/finding.ts';
import { formatBytes, formatCount } from '../core/numbers.ts';
import { processes } from '../exec/processes.ts';
import type { Leftover } from '../files/drafts.ts';
import { careOf, peekStore } from '../store/open.ts';
import { diagnoseWork } from './doctor-work.ts';
import { leftoversIn } from './leftovers.ts';

/** `doctor` warns if the limit of open files is below this number. */
const MIN_OPEN_FILES = 256;

/** Checks the runtime, the store, its workers and the limits. Changes nothing. `readAll` reads the whole store, which takes long. */
export async function diagnose(location: string, now: number, readAll: boolean): Promise<Finding[]> {
  const care = await careOf(location);
  const inspection = await care.inspect(location, readAll);
  const { path, stateDirectory, isReadable, engine, files, contents } = inspection;
  const store = isReadable ? await peekStore(location) : null;
  const leftovers = care.leftovers(path);
  if (stateDirectory !== null) leftovers.push(...leftoversIn(stateDirectory, store?.epoch ?? null));
  const findings = [checkRuntime(), engine, ...checkUser(), ...files];
  findings.push(checkLeftovers(leftovers), ...contents);
  if (store !== null && stateDirectory !== null) {
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
  const setNames = Object.keys(process.env).filter((one) => pattern.test(one));
  if (setNames.length > 0)
    return warn(
      'runtime',
      `${name} reads ${setNames.join(' and ')}, which can load other code into queuectl or open a debugger port`,
      `unset ${setNames.join(' ')}`,
    );
  return ok('runtime', `${name} on ${process.platform} ${process.arch}`);
}

function checkUser(): Finding[] {
  return process.getuid?.() === 0
    ? [warn('user', 'root: every job runs with full privileges', 'run the workers as another user')]
    : [];
}

function checkLeftovers(leftovers: Leftover[]): Finding {
  if (leftovers.length === 0) return ok('leftovers', 'none');
  const bytes = formatBytes(leftovers.reduce((sum, one) => sum + one.bytes, 0));
  const names = leftovers.slice(0, 3).map((one) => one.path);
  if (leftovers.length > names.length) names.push(`${leftovers.length - names.length} more`);
  return warn(
    'leftovers',
    `killed processes left files behind (${bytes}): ${names.join(', ')}`,
    'to remove them: queuectl worker start',
  );
}

function checkOpenFiles(): Finding {
  const limit = processes.inheritedOpenFileLimit();
  if (limit === null) return ok('open files', 'unknown');
  const text = /^\d+$/.test(limit) ? `limit of ${formatCount(Number(limit))} per job` : limit;
  return Number(limit) < MIN_OPEN_FILES ? warn('open files', text, 'ulimit -n 1024') : ok('open files', text);
}
