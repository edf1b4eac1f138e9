import { QueueError } from '../core/errors.ts';
import type { SqlClient } from '../core/sql-client.ts';
import type { App } from './app.ts';

/**
 * Returns the app for an enqueue in the transaction that the caller has begun on `client`. The store wakes the workers when the
 * caller commits. Throws if the queue is a file.
 */
export function inTransactionOf(app: App, client: SqlClient): App {
  const { store, signals } = app;
  if (store.insertOn === undefined)
    throw new QueueError(
      'wrong-state',
      "the option 'client' needs a queue in PostgreSQL, and this queue is a file",
      'open the queue with a URL such as postgres://app@db.example.com/app',
    );
  return { ...app, store: { ...store, insert: store.insertOn(client) }, signals: { ...signals, wake() {} } };
}
