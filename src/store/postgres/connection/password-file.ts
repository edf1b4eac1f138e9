import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { orNull } from '../../../core/text/language.ts';
import type { PostgresLocation } from './location.ts';

const pathOf = ({ passwordFile }: PostgresLocation): string => passwordFile ?? join(homedir(), '.pgpass');

/** Returns the path of the password file if it is needed, but ignored because other users can access it. Otherwise returns null. */
export function ignoredPasswordFile(location: PostgresLocation): string | null {
  const file = pathOf(location);
  const mode = location.password === null ? (orNull(() => statSync(file).mode) ?? 0) : 0;
  return (mode & 0o077) === 0 ? null : file;
}

/**
 * Returns the password for a location from the password file of PostgreSQL, or null if it has none. A file that other users
 * can access is ignored, as by PostgreSQL's own programs.
 */
export function passwordFromFile(location: PostgresLocation): string | null {
  const file = pathOf(location);
  const isFile = orNull(() => statSync(file).isFile()) ?? false;
  const text =
    isFile && ignoredPasswordFile(location) === null ? orNull(() => readFileSync(file, 'utf8')) : null;
  if (text === null) return null;
  const host = location.host.startsWith('/') ? 'localhost' : location.host;
  const wanted = [host, String(location.port), location.database, location.user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const matches = wanted.every((one, i) => fields[i] === '*' || fields[i] === one);
    if (fields.length === 5 && matches) return fields[4]!;
  }
  return null;
}

/** Splits a line at its colons. A backslash makes the next character a part of the field. */
function fieldsOf(line: string): string[] {
  const fields: string[][] = [[]];
  for (const part of line.match(/\\.|[^\\]/gs) ?? []) {
    if (part === ':' && fields.length < 5) fields.push([]);
    else fields.at(-1)!.push(part.at(-1)!);
  }
  return fields.map((field) => field.join(''));
}
