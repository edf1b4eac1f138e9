import { maybeRead } from './maybe-read.ts';

/** The variable that replaces the name of this host, for example in a container with a random name. */
export const HOST_NAME_VARIABLE = 'QUEUECTL_HOSTNAME';

/** Returns the name of this host. On Linux it is read from a file, because loading node:os takes longer. */
export function hostName(environment: NodeJS.ProcessEnv = process.env): string {
  return (
    environment[HOST_NAME_VARIABLE] ||
    maybeRead('/proc/sys/kernel/hostname')?.trim() ||
    process.getBuiltinModule('node:os').hostname()
  );
}
