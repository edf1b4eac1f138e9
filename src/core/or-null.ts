/** Returns the result of a function, or null if it throws. */
export function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
