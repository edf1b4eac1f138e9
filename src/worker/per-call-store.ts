import type { Store } from '../store/store.ts';

/** Returns a store that is open only during each call, so that a supervisor, which rarely needs it, keeps no files open. */
export function perCallStore(epoch: string, open: () => Promise<Store>): Store {
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
