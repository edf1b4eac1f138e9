import { resolveSettings } from '../core/stored-settings.ts';
import { mostCommonEpoch } from '../state/kept-output.ts';
import type { RepairResult } from '../store/contract/file-care.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';
import { settlementOfLost } from './settlement.ts';
import { runningAttemptNames, throwIfCommandsRun } from './throw-if-running.ts';

/** Checks the database. `fix` names the commands that help, or is null if nothing is wrong. */
export async function checkDatabase(location: string, storeTimeoutMs?: number) {
  const care = await careOf(location);
  const { path, problems, fix, invalidSettings } = await care.check(location, storeTimeoutMs);
  const unset = invalidSettings.map(({ key }) => `queuectl config unset ${key}`).join(' && ');
  return {
    db: path,
    ok: problems.length + invalidSettings.length === 0,
    problems: [...problems, ...invalidSettings.map(({ problem }) => problem)],
    fix:
      problems.length > 0
        ? fix
        : unset === ''
          ? null
          : `to reset ${invalidSettings.length === 1 ? 'the setting' : 'the settings'}: ${unset}`,
  };
}

/** Moves all readable rows of a damaged store to a new one and keeps the old file. Returns null if the store is not damaged. */
export async function repairDatabase(
  { clock, random }: Pick<App, 'clock' | 'random'>,
  location: string,
  anyOwner: boolean,
): Promise<RepairResult | null> {
  const care = await careOf(location);
  const stateDirectory = care.stateDirectoryOf(location);
  return care.repair(location, anyOwner, {
    now: () => clock.now(),
    knownEpoch: () => mostCommonEpoch(stateDirectory),
    settleLost: (stored) => settlementOfLost(resolveSettings(stored), clock.now(), random),
    accept: async (copy) => throwIfCommandsRun(stateDirectory, await runningAttemptNames(copy)),
  });
}
