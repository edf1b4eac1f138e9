/**
 * Replaces `node:path` in the executable for Linux (scripts/executable.ts), because loading all of it takes a short command time. A test
 * compares both.
 */
const SLASH = 47;

/** Returns a path without empty parts, `.` and, where it is known what they refer to, `..`. */
function normalize(path: string): string {
  if (path === '') return '.';
  const isRooted = isAbsolute(path);
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
    else if (!isRooted) parts.push(part);
  }
  const joined = parts.join('/');
  const end = path.charCodeAt(path.length - 1) === SLASH ? '/' : '';
  if (joined === '') return isRooted ? '/' : `.${end}`;
  return (isRooted ? '/' : '') + joined + end;
}

export function isAbsolute(path: string): boolean {
  return path.charCodeAt(0) === SLASH;
}

export function join(...parts: string[]): string {
  let joined = '';
  for (const part of parts) if (part !== '') joined = joined === '' ? part : `${joined}/${part}`;
  return normalize(joined);
}

export function resolve(...parts: string[]): string {
  let resolved = '';
  for (let i = parts.length - 1; i >= 0 && !isAbsolute(resolved); i--)
    if (parts[i] !== '') resolved = resolved === '' ? parts[i]! : `${parts[i]}/${resolved}`;
  if (!isAbsolute(resolved)) {
    try {
      resolved = `${process.cwd()}/${resolved}`;
    } catch {
      // The current directory was removed.
      return process.getBuiltinModule('node:path').resolve(...parts);
    }
  }
  const path = normalize(resolved);
  return path.length > 1 && path.charCodeAt(path.length - 1) === SLASH ? path.slice(0, -1) : path;
}

/** Returns where the last part of a path ends, without the slashes behind it. */
function endOf(path: string): number {
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === SLASH) end--;
  return end;
}

export function dirname(path: string): string {
  const slash = path.lastIndexOf('/', endOf(path) - 1);
  if (slash < 1 || path === '') return isAbsolute(path) ? '/' : '.';
  // POSIX lets a system treat two slashes at the start as special.
  return slash === 1 && isAbsolute(path) ? '//' : path.slice(0, slash);
}

export function basename(path: string, suffix?: string): string {
  if (suffix !== undefined) return process.getBuiltinModule('node:path').basename(path, suffix);
  const end = endOf(path);
  return path.slice(end === 1 ? (isAbsolute(path) ? 1 : 0) : path.lastIndexOf('/', end - 1) + 1, end);
}

export function extname(path: string): string {
  return process.getBuiltinModule('node:path').extname(path);
}
