import { actorOf } from '../actions/actor.ts';
import { type OpenedApp, openApp } from '../actions/app.ts';
import { locationName } from '../actions/location-name.ts';
import { QueueError, usageError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { refuseMissingDirectory, storeLocation } from '../store/location.ts';
import type { Context, Input } from './command.ts';

/** The target of `db copy`. */
export interface CopyTarget {
  location: string;
  /** How the user has chosen it: the name of the flag or of the variable. */
  givenBy: string;
}

export function copyTargetOf({ environment }: Context, input: Input): CopyTarget {
  const flag = input.one('to');
  const given = flag ?? environment.QUEUECTL_COPY_TO;
  if (!given)
    throw usageError('db copy requires a target', 'usage: queuectl db copy --to FILE or --to postgres://…');
  const givenBy = flag === undefined ? 'QUEUECTL_COPY_TO' : '--to';
  try {
    const location = storeLocation(given, {});
    refuseMissingDirectory(location, givenBy);
    return { location, givenBy };
  } catch (error) {
    throw aboutTarget(error, givenBy, null);
  }
}

/** Opens the target, and creates it if it is missing. `name` names it in messages. */
export async function openCopyTarget(context: Context, { location, givenBy }: CopyTarget) {
  const { environment, anyOwner, storeTimeoutMs } = context;
  let name: string | null = null;
  try {
    name = await locationName(location, environment);
    const app: OpenedApp = await openApp(location, actorOf(environment), {
      access: 'write',
      anyOwner,
      storeTimeoutMs,
    });
    return { app, name };
  } catch (error) {
    throw aboutTarget(error, givenBy, name);
  }
}

/**
 * Returns the error with a hint about the target. The hints of a store are about the one that --db chooses, because other commands use
 * only one. `name` is null if the target has no valid name.
 */
function aboutTarget(error: unknown, givenBy: string, name: string | null): unknown {
  if (!(error instanceof QueueError) || error.hint === null) return error;
  const hint = error.hint
    .replaceAll(/queuectl --db (\S+) …/g, 'queuectl db copy --to $1')
    .replace('--db, QUEUECTL_DB or QUEUECTL_HOME', givenBy)
    .replaceAll('--db', '--to')
    .replaceAll(/queuectl (db (check|migrate|repair|renew)|doctor|restore( FILE)?)/g, (command) =>
      name === null ? command : `${command} --db ${shellWord(name)}`,
    );
  return new QueueError(error.code, error.message, hint, { cause: error });
}
