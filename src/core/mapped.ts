/**
 * Returns an iterable of what `make` returns for each item. Nothing is made before it is asked for. A generator would do the
 * same, but the first one takes a tenth of a millisecond, which is much for a short command.
 */
export function mapped<T, U>(items: Iterable<T>, make: (item: T) => U): Iterable<U> {
  return {
    [Symbol.iterator]() {
      const iterator = items[Symbol.iterator]();
      return {
        next() {
          const { done, value } = iterator.next();
          return done ? { done, value: undefined } : { done: false, value: make(value) };
        },
        return() {
          iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
