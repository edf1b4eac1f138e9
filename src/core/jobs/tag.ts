import { invalidValue } from '../errors.ts';

/** Reads a tag of the form `key=value`. */
export function readTag(text: string, what: string): [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw invalidValue(`${what} must be KEY=VALUE, not '${text}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}
