import type { Store } from '../store/store.ts';

/** Returns a store that is open only during each call, so that a supervisor, which rarely needs it, keeps no files open. */
export function perCallStore(opened: Store, open: () => Promise<Store>): Store {
  const known = { epoch: opened.epoch, manyHosts: opened.manyHosts };
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
  return new Proxy(known as Store, {
    get: (_, verb) => (verb in known ? known[verb as keyof typeof known] : call(verb as keyof Store)),
  });
}
