/** Methods that all return promises, as those of every part of the store do. */
type Part<T> = { [Name in keyof T]: (...values: never[]) => Promise<unknown> };

/**
 * Returns the methods of one part of the store. The first call of any of them loads the module of the part, because a command
 * that lives for milliseconds must not load what it does not use. `names` has every method of the part.
 */
export function lazyPart<T extends Part<T>>(names: Record<keyof T, true>, load: () => Promise<T>): T {
  let loaded: T | null = null;
  const call = async (name: keyof T, values: never[]): Promise<unknown> => {
    loaded ??= await load();
    return loaded[name](...values);
  };
  const methods: Record<string, unknown> = {};
  for (const name in names)
    methods[name] = (...values: never[]) => loaded?.[name](...values) ?? call(name, values);
  return methods as T;
}
