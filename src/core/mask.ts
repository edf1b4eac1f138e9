import { MASK } from './mask-text.ts';
import { isLiteral, isSecretName, secretIn, URL_PASSWORDS } from './secrets.ts';

const URL_VARIABLE = /(^|_)UR[IL]S?$/i;
const CREDENTIALS_IN_URL = /:\/\/[^\s/@"']+@/;

/** Masks the password of every URL in a text. */
export function maskUrls(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(URL_PASSWORDS, (all, before: string, password: string) =>
    isLiteral(password) ? `${before}${MASK}@` : all,
  );
}

/** Masks the whole value of a secret variable or of a URL variable with credentials. Otherwise masks passwords of URLs. */
function maskValue(name: string, value: string): string {
  if (isSecretName(name)) return MASK;
  if (URL_VARIABLE.test(name) && (CREDENTIALS_IN_URL.test(value) || secretIn(value) !== null)) return MASK;
  return maskUrls(value);
}

/** Returns the same variables with secrets masked. */
export function maskEnv(env: Record<string, string>): Record<string, string> {
  const names = Object.keys(env);
  return names.length === 0
    ? env
    : Object.fromEntries(names.map((name) => [name, maskValue(name, env[name]!)]));
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
