import { QueueError } from '../../core/errors.ts';

/** Returns methods that all reject, in place of a part of the store that is not written yet. */
export function unwritten<T>(part: string, names: (keyof T & string)[]): T {
  const reject = async (name: string): Promise<never> => {
    throw new QueueError('internal', `PostgreSQL: ${part}.${name} is not written yet`);
  };
  return Object.fromEntries(names.map((name) => [name, () => reject(name)])) as T;
}
