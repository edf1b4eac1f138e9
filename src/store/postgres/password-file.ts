import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { PostgresLocation } from './location.ts';

/**
 * Returns the password for a location from the password file of PostgreSQL, or null if it has none. A file that other users
 * can read is ignored, as by PostgreSQL's own programs.
 */
export function passwordFromFile(location: PostgresLocation): string | null {
  const file = location.passwordFile ?? join(homedir(), '.pgpass');
  let text: string;
  try {
    const stat = statSync(file);
    if (!stat.isFile() || (stat.mode & 0o077) !== 0) return null;
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
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
