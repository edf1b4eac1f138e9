/** The oldest safe version of SQLite. In older versions, a WAL reset under load can corrupt the file. */
export const OLDEST_SQLITE = '3.51.3';

export function isSafeSqliteVersion(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [i, oldest] of OLDEST_SQLITE.split('.').map(Number).entries()) {
    const part = parts[i] ?? 0;
    if (part !== oldest) return part > oldest;
  }
  return true;
}
