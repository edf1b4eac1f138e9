import type { JobHooks } from './job.ts';

/** What is shown in the place of a value that nobody but its owner should read. */
export const MASK = '•••';

/** The judge of names: those whose value is a secret, by the last word that matters. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
  while (words.length > 1 && (BESIDE.has(words.at(-1)!) || /^V?\d+$/.test(words.at(-1)!))) words.pop();
  const last = words.at(-1);
  const before = words.at(-2);
  if (last === undefined || words.some((word) => ABOUT.has(word))) return false;
  if (/(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|APIKEY|SSHPASS)$/.test(last)) return true;
  if (last === 'KEY') return before !== undefined && KEYS.has(before);
  return (last === 'PASS' || last === 'PWD') && before !== undefined && before !== 'OLD';
}

/** Which one of several it is, or of what. */
const BESIDE = new Set([
  'BASE',
  'OLD',
  'NEW',
  'PREVIOUS',
  'CURRENT',
  'DEV',
  'TEST',
  'STAGING',
  'PROD',
  'VALUE',
]);
/** Such a name tells something about a secret, and not the secret. */
const ABOUT = new Set([
  'NO',
  'USE',
  'ALLOW',
  'HAS',
  'IS',
  'REQUIRE',
  'ENABLE',
  'DISABLE',
  'SKIP',
  'MIN',
  'MAX',
]);
const KEYS = new Set([
  'API',
  'ACCESS',
  'PRIVATE',
  'SECRET',
  'ENCRYPTION',
  'SIGNING',
  'MASTER',
  'AUTH',
  'ACCOUNT',
]);

/** What in the text of a command looks like a secret that was written out, by its name; null: nothing does. */
export function secretIn(command: string): string | null {
  if (!HINT.test(command)) return null;
  for (const [, flag, name, value] of command.matchAll(ASSIGNED))
    if (isSecretName(name!) && isWrittenOut(value!)) return flag! + name;
  for (const [, name, value] of command.matchAll(FLAG_AND_VALUE))
    if (isSecretName(name!) && isWrittenOut(value!)) return `--${name}`;
  const header = AUTHORIZATION.exec(command)?.[1];
  if (header !== undefined && isWrittenOut(header)) return 'Authorization';
  const password = IN_A_URL.exec(command)?.[1];
  return password !== undefined && isWrittenOut(password) ? 'the password of a URL' : null;
}

/** Most commands hold none of this, and are looked at no further. */
const HINT = /pass|pwd|secret|token|key|authorization|:\/\/[^\s/]*@/i;
const VALUE = `"[^"]*"|'[^']*'|[^\\s"'&;|)<>]*`;
/** `NAME=x`, `--name=x`, `?name=x`; what follows is looked at but not taken, as it may hold the next one. */
const ASSIGNED = new RegExp(`(?<=^|[\\s"'?&;=({|,])(-{0,2})([a-z][\\w.-]*)=(?=(${VALUE}))`, 'gi');
const FLAG_AND_VALUE =
  /(?<=^|[\s"'])--([a-z][\w-]*)["']?\s+(?=("[^"]*"|'[^']*'|[^\s"'&;|)<>-][^\s"'&;|)<>]*))/gi;
const AUTHORIZATION = /\bauthorization: *(?:bearer|basic|token) +([^\s"']+)/i;
const IN_A_URL = /:\/\/[^\s/:@"']*:([^\s/@"']+)@/;

/** Neither a reference (a variable, a command, a file) nor a switch nor nothing. */
function isWrittenOut(value: string): boolean {
  const text = value.replace(/^["']|["']$/g, '').trim();
  return (
    text !== '' &&
    !/\$[\w{(]|`|^[/.~@<{*•-]|^(file|env):|^(yes|no|on|off|true|false|none|null|\d)$/i.test(text)
  );
}

/** The same variables with the values of secrets masked. */
export function maskEnv(env: Record<string, string>): Record<string, string> {
  if (!Object.keys(env).some(isSecretName)) return env;
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isSecretName(name) ? MASK : value]),
  );
}

/** A job or a schedule for others than its owner. */
export function masked<T extends object>(object: T): T {
  const { env, job } = object as { env?: Record<string, string>; job?: object };
  return {
    ...object,
    ...(env === undefined ? {} : { env: maskEnv(env) }),
    ...(typeof job === 'object' && job !== null ? { job: masked(job) } : {}),
  };
}

interface Told {
  command?: string;
  argv?: string[];
  env?: Record<string, string>;
  hooks?: JobHooks;
}

/** What to say to somebody who gives a job a secret that will be stored as it is; null: nothing. */
export function secretWarning({ command, argv, env = {}, hooks = {} }: Told): string | null {
  const name = Object.keys(env).find((key) => isSecretName(key) && isWrittenOut(env[key]!));
  if (name !== undefined)
    return `${name} looks like a secret, and its value is stored with the job; --secret-env ${name} takes it from the worker's environment instead`;
  for (const text of [command ?? argv?.join(' ') ?? '', ...Object.values(hooks as object)]) {
    const found = secretIn(String(text));
    if (found !== null)
      return `the command holds what looks like a secret (${found}), and is stored and shown as it is; let the worker's environment have it: --secret-env NAME, and "$NAME" in the command`;
  }
  return null;
}
