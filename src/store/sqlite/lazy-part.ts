/** Methods that all return promises, as those of every part of the store do. */
type Part<T> = { [Name in keyof T]: (...values: never[]) => Promise<unknown> };

type Method = (...values: never[]) => Promise<unknown>;

export interface LazyPart {
  /** Returns a method of the part. Its first call loads the module of the part. Returns null if the part has no such method. */
  method(name: string | symbol): Method | null;
}

/** Returns a part of the store that `load` makes when it is needed, because a command that lives for milliseconds must not load what it does not use. `names` has every method of the part. */
export function lazyPart<T extends Part<T>>(names: Record<keyof T, true>, load: () => Promise<T>): LazyPart {
  let loaded: T | null = null;
  const methodOf = (name: keyof T): Method => {
    const call = async (values: never[]): Promise<unknown> => {
      loaded ??= await load();
      return loaded[name](...values);
    };
    return (...values) => loaded?.[name](...values) ?? call(values);
  };
  return { method: (name) => (Object.hasOwn(names, name) ? methodOf(name as keyof T) : null) };
}
