import type { Row } from './row.ts';

export const SELECT_SETTINGS = 'SELECT key, value FROM setting';

export function toSettings(rows: Row[]): Map<string, string> {
  return new Map(rows.map(({ key, value }) => [key as string, value as string]));
}
