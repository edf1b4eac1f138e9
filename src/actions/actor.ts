import { orNull } from '../core/or-null.ts';
import { hostName } from '../files/host-name.ts';
import { maybeRead } from '../files/maybe-read.ts';

/** Returns the user of this process as `user@host`, for pauses and events. */
export function actorOf(environment: NodeJS.ProcessEnv): string {
  const user = environment.USER || environment.LOGNAME || accountName();
  return `${user}@${hostName(environment)}`;
}

/** The name that Bun returns for every account if USER is not set. */
const UNKNOWN = 'unknown';

/** Returns the name of the account, or a text such as `uid 1000` if it has no name, as in some containers. Reading a file is cheaper than loading node:os. */
function accountName(): string {
  const uid = process.getuid?.();
  const listed = nameIn(maybeRead('/etc/passwd') ?? '', uid);
  if (listed !== null) return listed;
  const name = orNull(() => process.getBuiltinModule('node:os').userInfo().username);
  return name !== null && name !== '' && name !== UNKNOWN ? name : `uid ${uid ?? '?'}`;
}

/** Returns the name of the account with this uid in a passwd file, or null. Does not split the whole file, which may be long. */
function nameIn(passwd: string, uid: number | undefined): string | null {
  const id = `:${uid}:`;
  for (let at = passwd.indexOf(id); at !== -1; at = passwd.indexOf(id, at + 1)) {
    const start = passwd.lastIndexOf('\n', at) + 1;
    // The line begins with the name and the password. The same number may follow as the group.
    const [name, password, ...others] = passwd.slice(start, at).split(':');
    if (name && password !== undefined && others.length === 0) return name;
  }
  return null;
}
