/** Methods that all return promises, as those of every part of the store do. */
type Part<T> = { [Name in keyof T]: (...values: never[]) => Promise<unknown> };

/**
 * Adds the methods of one part to the store. The first call of any of them loads the module of the part, because a command
 * that lives for milliseconds must not load what it does not use. `names` has every method of the part.
 */
export function addLazyPart<S extends object, T extends Part<T>>(
  store: S,
  names: Record<keyof T, true>,
  load: () => Promise<T>,
): asserts store is S & T {
  let loaded: T | null = null;
  const call = async (name: keyof T, values: never[]): Promise<unknown> => {
    loaded ??= await load();
    return loaded[name](...values);
  };
  for (const name in names)
    (store as Record<string, unknown>)[name] = (...values: never[]) =>
      loaded?.[name](...values) ?? call(name, values);
}
