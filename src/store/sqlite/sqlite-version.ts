/** The oldest safe version of SQLite. In older versions, a WAL reset under load can corrupt the file. */
export const OLDEST_SQLITE = '3.51.3';

export function isSafeSqliteVersion(version: string): boolean {
  const parts = version.split('.');
  const oldest = OLDEST_SQLITE.split('.');
  for (let i = 0; i < oldest.length; i++) {
    const difference = Number(parts[i] ?? 0) - Number(oldest[i]);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
