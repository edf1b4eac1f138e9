import type { Store } from '../../src/store/store.ts';

export interface OpenedForTest {
  store: Store;
  /** One more connection to the same store; the first may be open still. `actor`: who acts through it. */
  reopen(actor?: string): Promise<Store>;
  /** Called when every connection is closed. */
  cleanup(): Promise<void> | void;
}

export interface Setting {
  store: Store;
  /** One more connection to the same store; the suite closes it. */
  another(actor?: string): Promise<Store>;
  /** Closes one before the test ends. */
  close(store: Store): Promise<void>;
}

/** One promise of the contract on a fresh store. A topic is a table of them. */
export type Case = (setting: Setting) => Promise<void>;
