import { MASK } from '../jobs/command-text.ts';

/** Tells by its name whether a variable holds a secret. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1);
  const wordBefore = words.at(-2);
  if (last === undefined || words.some((word) => PLAIN_WORDS.test(word))) return false;
  if (SECRET_WORD.test(last)) return true;
  if (wordBefore === undefined) return /^(CREDENTIALS?|PASS|KEYS?)$/.test(last);
  if (/^KEYS?$/.test(last)) return !PLAIN_KEY_PREFIXES.test(wordBefore);
  if (/^CRED(ENTIAL)?S?$/.test(last)) return wordBefore !== 'APPLICATION';
  if (last === 'STRING') return wordBefore === 'CONNECTION' || wordBefore === 'CONN';
  // PWD and OLDPWD are directories.
  if (last === 'PASS' || last === 'PWD' || last === 'PAT') return wordBefore !== 'OLD';
  return last === 'AUTH';
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
  /(PASSWORD|PASSWD|PASSPHRASE|PASSCODE|SECRET|TOKEN|(API|PRIVATE|SECRET|ACCESS|AUTH|ACCOUNT)KEY)S?$|^(SSHPASS|JWTS?|COOKIES?|AUTHORIZATION|BEARER|DSNS?|WEBHOOKS?|(PIN|OTP|SALT)S?)$/;
/** Last words that only distinguish several secrets, such as OLD in TOKEN_OLD. They are ignored. */
const IGNORED_SUFFIXES = /^(BASE|OLD|NEW|PREVIOUS|CURRENT|DEV|TEST|STAGING|PROD|VALUE)$/;
/** A variable with one of these words in its name describes a secret or counts tokens, and holds no secret itself. */
const PLAIN_WORDS =
  /^(NO|USE|ALLOW|HAS|IS|REQUIRE|ENABLE|DISABLE|SKIP|MIN|MAX|NUM|COUNT|TOTAL|PROMPT|INPUT|OUTPUT|COMPLETION|CONTEXT)$/;
const ADDRESS_WORDS = /^(URL|URI|ENDPOINT)$/;
const PLAIN_KEY_PREFIXES =
  /^(PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|SHARD|ROUTING|CACHE|GROUP|UNIQUE|IDEMPOTENCY|LOOKUP|RANGE|INDEX|OBJECT|HOT|MAP|ARROW)$/;

/** A warning names at most this many variables. */
const MAX_NAMED_VARIABLES = 5;
/** Values that are no secrets in spite of the name: nothing, a path, a switch or one digit. */
const PLAIN_VALUE = /^([/.~@].*|yes|no|on|off|true|false|none|null|\d)?$/is;

/** Returns a warning if some of the variables of a job look like secrets, or null. */
export function secretWarning(env: Record<string, string>): string | null {
  const names = Object.keys(env).filter((key) => isSecretName(key) && !PLAIN_VALUE.test(env[key]!));
  const [name] = names;
  if (name === undefined) return null;
  if (names.length === 1)
    return `${name} looks like a secret, and its value is stored with the job. Use --secret-env ${name} to read it from the worker's environment instead`;
  const shown =
    names.slice(0, MAX_NAMED_VARIABLES).join(', ') + (names.length > MAX_NAMED_VARIABLES ? ', …' : '');
  return `${names.length} variables look like secrets, and their values are stored with the job: ${shown}. Use --secret-env to read them from the worker's environment instead`;
}

const URL_VARIABLE = /(^|_)UR[IL]S?$/i;
const CREDENTIALS_IN_URL = /:\/\/[^\s/@"']+@/;

/**
 * Matches the password in `scheme://user:password@host`. A password with a slash or a quote, which a URL should not contain, has a
 * limit, so that the run time stays linear. It does not begin with a port, as in `http://host:80/me@example.org`.
 */
const URL_PASSWORDS =
  /(:\/\/[^\s/:"']*:)([^\s/"']+|(?!\/\/|["']?(?:\d{1,5}|\$\w{1,99}|\$\{\w{1,99}\})["'/])(?:(?!:\/\/)\S){1,200})@/g;

/** Returns false for a value that is empty or only a reference to a variable or a command. Every other value may be a secret. */
function mayBeSecret(value: string): boolean {
  return value !== '' && !/^["']?\$(\w+|\{\w+\}|\([^()]*\))["']?$/.test(value);
}

/** Masks the password of every URL in a text. */
export function maskUrls(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(URL_PASSWORDS, (all, before: string, password: string) =>
    mayBeSecret(password) ? `${before}${MASK}@` : all,
  );
}

/** Tells whether a URL has a parameter such as `token=x`. */
function hasSecretParameter(url: string): boolean {
  return url.split(/[\s"'?&;,|]/).some((part) => {
    const at = part.indexOf('=');
    return at > 0 && isSecretName(part.slice(0, at)) && mayBeSecret(part.slice(at + 1));
  });
}

/** Masks the whole value of a secret variable or of a URL variable with credentials. Otherwise masks passwords of URLs. */
function maskValue(name: string, value: string): string {
  if (isSecretName(name)) return MASK;
  if (URL_VARIABLE.test(name) && (CREDENTIALS_IN_URL.test(value) || hasSecretParameter(value))) return MASK;
  return maskUrls(value);
}

/** Returns the same variables with secrets masked. */
export function maskEnv(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, maskValue(name, value)]));
}

/** The fields of jobs, schedules, settings and events that hold commands, or text that may come from commands. */
const TEXT_FIELDS = [
  'command',
  'on_complete',
  'on_failure',
  'on_dead',
  'last_error',
  'error',
  'value',
  'text',
];

/** Returns a copy of a job, a schedule, a setting or an event with its secrets masked. */
export function masked<T extends object>(object: T): T {
  const shown = { ...object } as Record<string, unknown>;
  for (const field of TEXT_FIELDS)
    if (typeof shown[field] === 'string') shown[field] = maskUrls(shown[field]);
  const { env, job, argv } = shown as { env?: Record<string, string>; job?: unknown; argv?: unknown };
  if (env !== undefined) shown.env = maskEnv(env);
  if (Array.isArray(argv)) shown.argv = argv.map(maskUrls);
  if (typeof job === 'object' && job !== null) shown.job = masked(job);
  return shown as T;
}
