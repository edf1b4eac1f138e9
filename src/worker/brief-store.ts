import type { Store } from '../store/store.ts';

/**
 * Returns a store that is opened for each call and closed again. A supervisor lives long and calls it rarely, so it keeps no
 * files open and is not affected by what happens to them.
 */
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
  return new Proxy({} as Store, {
    get: (_, verb) => (verb === 'epoch' ? epoch : call(verb as keyof Store)),
  });
}
