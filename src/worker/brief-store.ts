import type { Store } from '../store/store.ts';

/** Returns a store that is open only during a call. A supervisor runs long and calls it rarely, so it keeps no files open. */
export function briefStore(epoch: string, open: () => Promise<Store>): Store {
  const call =
    (verb: keyof Store) =>
    async (...values: unknown[]) => {
      const store = await open();
      try {
        return await (store[verb] as (...values: unknown[]) => unknown)(...values);
      } finally {
        await store.close();
      }
    };
  return new Proxy({} as Store, { get: (_, verb) => (verb === 'epoch' ? epoch : call(verb as keyof Store)) });
}
