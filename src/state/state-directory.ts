import { join } from 'node:path';

/** The directory in which this host keeps what belongs to a queue and not to its store, by the paths in it. */
export interface StateDirectory {
  readonly path: string;
  /** Holds a directory for each attempt, and the seal. */
  readonly attempts: string;
  /** Is touched when workers should look at the store. */
  readonly wake: string;
  /** Is touched when something has changed. In a directory of its own, because idle workers watch the other one. */
  readonly change: string;
  /** Holds the lifelines of the workers. */
  readonly lifelines: string;
  /** Holds the logs of detached workers. */
  readonly logs: string;
  /** The name of this host, random and kept. */
  readonly host: string;
  /** The secret key that makes the cookies of attempts. */
  readonly key: string;
  readonly ballast: string;
  /** The access tokens of the HTTP server, by their roles. */
  readonly tokens: { readonly full: string; readonly 'read-only': string };
}

export function stateDirectory(path: string): StateDirectory {
  return {
    path,
    attempts: join(path, 'attempts'),
    wake: join(path, 'wake'),
    change: join(path, 'changes', 'last'),
    lifelines: join(path, 'lifelines'),
    logs: join(path, 'logs'),
    host: join(path, 'host'),
    key: join(path, 'key'),
    ballast: join(path, 'ballast'),
    tokens: { full: join(path, 'token'), 'read-only': join(path, 'token-read-only') },
  };
}

/** Returns the state directory of a store, or of a backup, that is this file. */
export const stateBeside = (file: string): StateDirectory => stateDirectory(`${file}.d`);
