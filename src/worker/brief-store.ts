import type { Store } from '../store/store.ts';

/**
 * A store that is opened for each call and closed again. A supervisor needs it rarely and lives long: so it holds none of the
 * store's files, and goes on whatever happens to them.
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
