import { join } from 'node:path';

/** The paths in the directory in which this host keeps the files of a queue that are not part of its store. */
export type StateDirectory = Readonly<ReturnType<typeof stateDirectory>>;

/** Returns the paths in a state directory. Creates nothing. */
export function stateDirectory(path: string) {
  return {
    path,
    /** Holds the files of all attempts, and the seal. */
    attempts: join(path, 'attempts'),
    /** Is touched when workers should look for jobs. */
    wake: join(path, 'wake'),
    /** Is touched when anything has changed. It has its own directory, because idle workers watch `path` for `wake`. */
    change: join(path, 'changes', 'last'),
    lifelines: join(path, 'lifelines'),
    /** Holds the logs of detached workers. */
    logs: join(path, 'logs'),
    /** Holds the random id of this host. */
    host: join(path, 'host'),
    /** Holds the secret key from which the cookies of attempts are made. */
    key: join(path, 'key'),
    ballast: join(path, 'ballast'),
    /** The files with the access tokens of the HTTP server, by role. */
    tokens: { full: join(path, 'token'), 'read-only': join(path, 'token-read-only') },
  };
}

/** Returns the state directory of the store or backup in this file. */
export const stateBeside = (file: string): StateDirectory => stateDirectory(`${file}.d`);
