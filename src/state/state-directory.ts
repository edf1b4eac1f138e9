/** The paths in the directory in which this host keeps the files of a queue that are not part of its store. */
export type StateDirectory = Readonly<ReturnType<typeof stateDirectory>>;

/** Returns the paths in a state directory. Creates nothing. `manyHosts` tells whether several hosts can use its store. */
export function stateDirectory(path: string, manyHosts = false) {
  return {
    path,
    manyHosts,
    /** Holds the files of all attempts. */
    attempts: `${path}/attempts`,
    /** Is touched when workers should look for jobs. */
    wake: `${path}/wake`,
    /** Is touched when anything has changed. It has its own directory, because idle workers watch `path` for `wake`. */
    change: `${path}/changes/last`,
    lifelines: `${path}/lifelines`,
    /** Holds the end of this host's lease, in a store that several hosts share. */
    lease: `${path}/lease`,
    /** Holds the logs of detached workers. */
    logs: `${path}/logs`,
    /** Holds the random id of this host. */
    host: `${path}/host`,
    /** Holds the secret key from which the cookies of attempts are made. */
    key: `${path}/key`,
    ballast: `${path}/ballast`,
    /** The files with the access tokens of the HTTP server, by role. */
    tokens: { full: `${path}/token`, 'read-only': `${path}/token-read-only` },
  };
}

/** Returns the state directory of the store or backup in this file. */
export const stateBeside = (file: string): StateDirectory => stateDirectory(`${file}.d`);
