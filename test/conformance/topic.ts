import type { Store } from '../../src/store/store.ts';

export interface OpenedForTest {
  store: Store;
  /** Opens another connection to the same store, as `actor`, and as a host with this id. The first may still be open. */
  reopen(actor?: string, host?: string): Promise<Store>;
  /** Runs after every connection is closed. */
  cleanup(): Promise<void> | void;
}

export interface CaseContext {
  store: Store;
  /** Opens another connection to the same store, which the suite closes. With `host`, it is one of another host. */
  another(actor?: string, host?: string): Promise<Store>;
  /** Closes a connection before the test ends. */
  close(store: Store): Promise<void>;
}

/** Tests one promise of the contract on a new store. A topic is a table of cases. */
export type Case = (context: CaseContext) => Promise<void>;
