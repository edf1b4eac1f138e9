import { join } from 'node:path';

/** The directory in which this host keeps what belongs to a queue and not to its store, by the paths in it. */
export type StateDirectory = Readonly<ReturnType<typeof stateDirectory>>;

export function stateDirectory(path: string) {
  return {
    path,
    /** Holds a directory for each attempt, and the seal. */
    attempts: join(path, 'attempts'),
    /** Is touched when workers should look at the store. */
    wake: join(path, 'wake'),
    /** Is touched when something has changed. In a directory of its own, because idle workers watch the other one. */
    change: join(path, 'changes', 'last'),
    lifelines: join(path, 'lifelines'),
    /** Holds the logs of detached workers. */
    logs: join(path, 'logs'),
    /** Holds the random name of this host. */
    host: join(path, 'host'),
    /** Holds the secret key that makes the cookies of attempts. */
    key: join(path, 'key'),
    ballast: join(path, 'ballast'),
    /** The access tokens of the HTTP server, by their roles. */
    tokens: { full: join(path, 'token'), 'read-only': join(path, 'token-read-only') },
  };
}

/** Returns the state directory of a store, or of a backup, that is this file. */
export const stateBeside = (file: string): StateDirectory => stateDirectory(`${file}.d`);
