import type { Client } from './client.ts';

/** Tells which connections lead directly to the server. */
const known = new WeakMap<Client, boolean>();

/**
 * Prepares a connection for statements without a transaction, which cannot have settings of their own: `settings` calls set_config for
 * the rest of the session. Sets nothing and returns false if there is a pooler, because other programs may get the same session. A
 * pooler gives its clients a process id that is not the one of the server's process.
 */
export async function prepareSession(client: Client, settings: string, values: string[]): Promise<boolean> {
  const found = known.get(client);
  if (found !== undefined) return found;
  const { processID } = client as Client & { processID: number | null };
  const text = `SELECT ${settings} FROM (SELECT 1) AS one WHERE pg_backend_pid() = $${values.length + 1}`;
  const isDirect = (await client.query(text, [...values, processID ?? 0])).rows.length > 0;
  known.set(client, isDirect);
  return isDirect;
}
