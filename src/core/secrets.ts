import type { JobHooks } from './job.ts';

/** Tells by its name whether a variable holds a secret. */
export function isSecretName(name: string): boolean {
  return isSecret(name, (wordBefore) => !PLAIN_KEY_PREFIXES.test(wordBefore));
}

/** Tells by its name whether a flag or a parameter holds a secret. Fewer kinds of keys count as secrets than for variables. */
function isSecretFlag(name: string): boolean {
  return isSecret(name, (wordBefore) => SECRET_KEY_PREFIXES.test(wordBefore));
}

/** `isSecretKey` decides whether a name that ends in KEY is secret. It gets the word before KEY. */
function isSecret(name: string, isSecretKey: (wordBefore: string) => boolean): boolean {
  const words = wordsOf(name);
  const last = words.at(-1);
  const wordBefore = words.at(-2);
  if (last === undefined || words.some((word) => PLAIN_WORDS.test(word))) return false;
  if (SECRET_WORD.test(last) || (wordBefore === undefined && /^CREDENTIALS?$/.test(last))) return true;
  if (wordBefore === undefined) return false;
  if (/^KEYS?$/.test(last)) return isSecretKey(wordBefore);
  if (/^CRED(ENTIAL)?S?$/.test(last)) return wordBefore !== 'APPLICATION';
  if (last === 'AUTH') return AUTH_PREFIXES.test(wordBefore);
  if (last === 'STRING') return wordBefore === 'CONNECTION' || wordBefore === 'CONN';
  return (last === 'PASS' || last === 'PWD' || last === 'PAT') && wordBefore !== 'OLD';
}

function wordsOf(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
  const isIgnoredSuffix = (): boolean =>
    IGNORED_SUFFIXES.test(words.at(-1)!) || /^V?\d+$/.test(words.at(-1)!);
  while (words.length > 1 && isIgnoredSuffix()) words.pop();
  // The URL of a webhook is secret itself, so WEBHOOK_URL counts as WEBHOOK.
  if (/^WEBHOOKS?$/.test(words.at(-2) ?? '') && ADDRESS_WORDS.test(words.at(-1)!)) words.pop();
  return words;
}

const SECRET_WORD =
  /(PASSWORD|PASSWD|PASSPHRASE|PASSCODE|SECRET|TOKEN|(API|PRIVATE|SECRET|ACCESS|AUTH|ACCOUNT)KEY)S?$|^(SSHPASS|JWTS?|COOKIES?|AUTHORIZATION|BEARER|DSNS?|WEBHOOKS?)$/;
/** Last words that only distinguish several secrets, such as OLD in TOKEN_OLD. They are ignored. */
const IGNORED_SUFFIXES = /^(BASE|OLD|NEW|PREVIOUS|CURRENT|DEV|TEST|STAGING|PROD|VALUE)$/;
/** A variable with one of these words in its name describes a secret or counts tokens, and holds no secret itself. */
const PLAIN_WORDS =
  /^(NO|USE|ALLOW|HAS|IS|REQUIRE|ENABLE|DISABLE|SKIP|MIN|MAX|NUM|COUNT|TOTAL|PROMPT|INPUT|OUTPUT|COMPLETION|CONTEXT)$/;
const ADDRESS_WORDS = /^(URL|URI|ENDPOINT)$/;
const AUTH_PREFIXES = /^(BASIC|PROXY|REDISCLI|DOCKER)$/;
const SECRET_KEY_PREFIXES = /^(API|ACCESS|PRIVATE|SECRET|ENCRYPTION|SIGNING|MASTER|AUTH|ACCOUNT|LICENSE)$/;
const PLAIN_KEY_PREFIXES =
  /^(PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|SHARD|ROUTING|CACHE|GROUP|UNIQUE|IDEMPOTENCY|LOOKUP|RANGE|INDEX|OBJECT|HOT|MAP|ARROW)$/;

/** Finds a literal secret in a command, in linear time. Returns the name of its variable, flag or header, URL_PASSWORD, or null. */
export function secretIn(command: string): string | null {
  if (!POSSIBLE_SECRET.test(command)) return null;
  for (const [, flag, name, value] of command.matchAll(ASSIGNMENT))
    if (isSecretFlag(name!) && isLiteral(value!)) return flag! + name;
  for (const [, name, value] of command.matchAll(FLAG_AND_VALUE))
    if (isSecretFlag(name!) && isLiteral(value!) && !isCookieFile(name!, value!)) return `--${name}`;
  const header = AUTHORIZATION.exec(command)?.[1];
  if (header !== undefined && isLiteral(header)) return 'Authorization';
  for (const [, , password] of command.matchAll(URL_PASSWORDS)) if (isLiteral(password!)) return URL_PASSWORD;
  return null;
}

const URL_PASSWORD = 'the password of a URL';
/** Matches every command that may contain a secret. Most commands do not match and need no further search. */
const POSSIBLE_SECRET =
  /pass|pwd|secret|token|key|auth|jwt|cookie|cred|bearer|webhook|dsn|pat|conn|:\/\/[^\s/]*@/i;
/**
 * Matches `NAME=x`, `--name=x` and `?name=x`. The value is in a lookahead, because it may contain the next match. Names and
 * values have a limit, because in a text of many `=` each value would be as long as the rest of the command.
 */
const ASSIGNMENT =
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

/** The texts of a job that may contain secrets. */
interface JobTexts {
  command?: string;
  argv?: string[];
  env?: Record<string, string>;
  hooks?: JobHooks;
}

/** Returns the warnings for a job: at most one about its variables, and one about its command and hooks. */
export function secretWarnings(texts: JobTexts): string[] {
  return [variableWarning(texts), commandWarning(texts)].filter((warning) => warning !== null);
}

/** A warning names at most this many variables. */
const MAX_NAMED_VARIABLES = 5;

function variableWarning({ env = {} }: JobTexts): string | null {
  const names = Object.keys(env).filter((key) => isSecretName(key) && isLiteral(env[key]!));
  const [name] = names;
  if (name === undefined) return null;
  if (names.length === 1)
    return `${name} looks like a secret, and its value is stored with the job. Use --secret-env ${name} to read it from the worker's environment instead`;
  const shown =
    names.slice(0, MAX_NAMED_VARIABLES).join(', ') + (names.length > MAX_NAMED_VARIABLES ? ', …' : '');
  return `${names.length} variables look like secrets, and their values are stored with the job: ${shown}. Use --secret-env to read them from the worker's environment instead`;
}

function commandWarning({ command, argv, hooks = {} }: JobTexts): string | null {
  for (const text of [command ?? argv?.join(' ') ?? '', ...Object.values(hooks as object)]) {
    const found = secretIn(String(text));
    if (found === null) continue;
    const shown = found === URL_PASSWORD ? 'stored as is, but masked when shown' : 'stored and shown as is';
    return `the command seems to contain a secret (${found}), and it is ${shown}. Use --secret-env NAME, and "$NAME" in the command, to read the secret from the worker's environment`;
  }
  return null;
}
