import type { JobHooks } from './job.ts';

/** Decides by its name whether a variable holds a secret. */
export function isSecretName(name: string): boolean {
  return isSecret(name, (before) => !PLAIN_KEYS.has(before));
}

/** Decides the same for a flag or a parameter in a command. Fewer kinds of keys count as secrets there. */
function isSecretFlag(name: string): boolean {
  return isSecret(name, (before) => SECRET_KEYS.has(before));
}

function isSecret(name: string, isSecretKey: (before: string) => boolean): boolean {
  const words = wordsOf(name);
  const last = words.at(-1);
  const before = words.at(-2);
  if (last === undefined || words.some((word) => NOT_SECRET.has(word))) return false;
  if (SECRET.test(last) || (before === undefined && /^CREDENTIALS?$/.test(last))) return true;
  if (before === undefined) return false;
  if (/^KEYS?$/.test(last)) return isSecretKey(before);
  if (/^CRED(ENTIAL)?S?$/.test(last)) return before !== 'APPLICATION';
  if (last === 'AUTH') return BASIC_AUTH.has(before);
  if (last === 'STRING') return before === 'CONNECTION' || before === 'CONN';
  return (last === 'PASS' || last === 'PWD' || last === 'PAT') && before !== 'OLD';
}

function wordsOf(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
  const drop = (): boolean => IGNORED_SUFFIXES.has(words.at(-1)!) || /^V?\d+$/.test(words.at(-1)!);
  while (words.length > 1 && drop()) words.pop();
  // The address of a webhook is its secret.
  if (/^WEBHOOKS?$/.test(words.at(-2) ?? '') && ADDRESS.has(words.at(-1)!)) words.pop();
  return words;
}

const SECRET =
  /(PASSWORD|PASSWD|PASSPHRASE|PASSCODE|SECRET|TOKEN|(API|PRIVATE|SECRET|ACCESS|AUTH|ACCOUNT)KEY)S?$|^(SSHPASS|JWTS?|COOKIES?|AUTHORIZATION|BEARER|DSNS?|WEBHOOKS?)$/;
/** Final words that only distinguish several secrets, such as OLD in TOKEN_OLD. They are ignored. */
const IGNORED_SUFFIXES = new Set('BASE OLD NEW PREVIOUS CURRENT DEV TEST STAGING PROD VALUE'.split(' '));
/** The value of a name with one of these words describes a secret or counts tokens, and is no secret itself. */
const NOT_SECRET = new Set(
  `NO USE ALLOW HAS IS REQUIRE ENABLE DISABLE SKIP MIN MAX NUM COUNT TOTAL PROMPT INPUT OUTPUT COMPLETION CONTEXT`.split(
    ' ',
  ),
);
const ADDRESS = new Set(['URL', 'URI', 'ENDPOINT']);
const BASIC_AUTH = new Set(['BASIC', 'PROXY', 'REDISCLI', 'DOCKER']);
const SECRET_KEYS = new Set(
  'API ACCESS PRIVATE SECRET ENCRYPTION SIGNING MASTER AUTH ACCOUNT LICENSE'.split(' '),
);
const PLAIN_KEYS = new Set(
  `PUBLIC PRIMARY FOREIGN SORT PARTITION SHARD ROUTING CACHE GROUP UNIQUE IDEMPOTENCY LOOKUP RANGE INDEX OBJECT HOT MAP
  ARROW`.split(/\s+/),
);

/** Returns the name of something in a command that looks like a literal secret, or null. It takes linear time. */
export function secretIn(command: string): string | null {
  if (!HINT.test(command)) return null;
  for (const [, flag, name, value] of command.matchAll(ASSIGNED))
    if (isSecretFlag(name!) && isLiteral(value!)) return flag! + name;
  for (const [, name, value] of command.matchAll(FLAG_AND_VALUE))
    if (isSecretFlag(name!) && isLiteral(value!) && !isCookieFile(name!, value!)) return `--${name}`;
  const header = AUTHORIZATION.exec(command)?.[1];
  if (header !== undefined && isLiteral(header)) return 'Authorization';
  for (const [, , password] of command.matchAll(URL_PASSWORDS)) if (isLiteral(password!)) return URL_PASSWORD;
  return null;
}

const URL_PASSWORD = 'the password of a URL';
/** Most commands contain none of these words and need no further search. */
const HINT = /pass|pwd|secret|token|key|auth|jwt|cookie|cred|bearer|webhook|dsn|pat|conn|:\/\/[^\s/]*@/i;
/**
 * Matches `NAME=x`, `--name=x` and `?name=x`. The value is in a lookahead, because it may contain the next match. Names and
 * values have a limit, because in a text of many `=` each value would be as long as the rest of the command.
 */
const ASSIGNED =
  /(?<=^|[\s"'?&;=({|,])(-{0,2})([a-z][\w.-]{0,99})=(?=("[^"]{0,99}"|"[^"]{99}|'[^']{0,99}'|'[^']{99}|[^\s"'&;|)<>]{0,99}))/gi;
const FLAG_AND_VALUE =
  /(?<=^|[\s"'])--([a-z][\w-]{0,99})["']?\s{1,9}(?=("[^"]{0,99}"|"[^"]{99}|'[^']{0,99}'|'[^']{99}|[^\s"'&;|)<>-][^\s"'&;|)<>]{0,99}))/gi;
const AUTHORIZATION = /\bauthorization: {0,9}(?:bearer|basic|token) {1,9}([^\s"']{1,99})/i;
/** Matches the password in `scheme://user:password@host`. The password contains no slash, so that the run time stays linear. */
export const URL_PASSWORDS = /(:\/\/[^\s/:@"']*:)([^\s/"']+)@/g;

/** Returns false for a value that is empty, masked, a switch, one digit, or a reference to a variable, a command or a file. */
export function isLiteral(value: string): boolean {
  const text = value.replace(/^["']|["']$/g, '').trim();
  return (
    text !== '' &&
    !/\$[\w{(]|`|^[/.~@<{*•-]|^(file|env):|^(yes|no|on|off|true|false|none|null|\d)$/i.test(text)
  );
}

/** Tells whether the value is the name of a cookie file, which curl accepts for the same flag. */
function isCookieFile(name: string, value: string): boolean {
  return /^cookies?$/i.test(name) && !value.includes('=');
}

interface Given {
  command?: string;
  argv?: string[];
  env?: Record<string, string>;
  hooks?: JobHooks;
}

/** Returns the warnings for a job: at most one about its variables, and one about its command and hooks. */
export function secretWarnings(given: Given): string[] {
  return [variableWarning(given), commandWarning(given)].filter((warning) => warning !== null);
}

/** A warning names this many variables. */
const NAMED = 5;

function variableWarning({ env = {} }: Given): string | null {
  const names = Object.keys(env).filter((key) => isSecretName(key) && isLiteral(env[key]!));
  const [name] = names;
  if (name === undefined) return null;
  if (names.length === 1)
    return `${name} looks like a secret, and its value is stored with the job. Use --secret-env ${name} to read it from the worker's environment instead`;
  const shown = names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ', …' : '');
  return `${names.length} variables look like secrets, and their values are stored with the job: ${shown}. Use --secret-env to read them from the worker's environment instead`;
}

function commandWarning({ command, argv, hooks = {} }: Given): string | null {
  for (const text of [command ?? argv?.join(' ') ?? '', ...Object.values(hooks as object)]) {
    const found = secretIn(String(text));
    if (found === null) continue;
    const shown = found === URL_PASSWORD ? 'stored as is, but masked when shown' : 'stored and shown as is';
    return `the command seems to contain a secret (${found}), and it is ${shown}. Use --secret-env NAME, and "$NAME" in the command, to read the secret from the worker's environment`;
  }
  return null;
}
