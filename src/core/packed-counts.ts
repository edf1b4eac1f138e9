/**
 * The counts of a histogram in few bytes. Each bucket that is not empty has two numbers: its distance from the bucket before it
 * (the first one from -1), and its count. A number has seven bits per byte, the lowest first. All bytes but its last are
 * above 127.
 */
export type PackedCounts = Uint8Array;

/** Adds 1 to a bucket. Changes the given bytes where there is room, so only the result may be used after it. */
export function addToPacked(bytes: PackedCounts | null, bucket: number): PackedCounts {
  if (bytes === null) return Uint8Array.from([...packed(bucket + 1), 1]);
  let last = -1;
  let at = 0;
  while (at < bytes.length) {
    const count = endOf(bytes, at);
    const here = last + numberAt(bytes, at);
    if (here === bucket) return increased(bytes, count);
    if (here > bucket)
      return replaced(bytes, at, count, [...packed(bucket - last), 1, ...packed(here - bucket)]);
    last = here;
    at = endOf(bytes, count);
  }
  return replaced(bytes, at, at, [...packed(bucket - last), 1]);
}

/** Adds the counts to those of a map by bucket, up to the first that is unreadable. Buckets end before `end`. */
export function addPacked(to: Map<number, number>, bytes: PackedCounts, end: number): void {
  read(bytes, end, (bucket, count) => to.set(bucket, (to.get(bucket) ?? 0) + count));
}

/** Tells whether these are the counts of at least one bucket, and of none from `end` on. */
export function isPacked(bytes: unknown, end: number): bytes is PackedCounts {
  return bytes instanceof Uint8Array && bytes.length > 0 && read(bytes, end, () => {}) === bytes.length;
}

/** Calls `found` for each bucket. Returns how many bytes were readable. */
function read(bytes: PackedCounts, end: number, found: (bucket: number, count: number) => void): number {
  let last = -1;
  let at = 0;
  while (at < bytes.length) {
    const start = endOf(bytes, at);
    const next = endOf(bytes, start);
    const here = last + numberAt(bytes, at);
    const count = numberAt(bytes, start);
    if (next > bytes.length || here <= last || here >= end || count < 1 || !Number.isSafeInteger(count))
      break;
    found(here, count);
    last = here;
    at = next;
  }
  return at;
}

/** Returns where the number at `at` ends. */
function endOf(bytes: PackedCounts, at: number): number {
  let end = at;
  while (bytes[end]! > 127) end++;
  return end + 1;
}

function numberAt(bytes: PackedCounts, at: number): number {
  let value = 0;
  let weight = 1;
  for (let i = at; ; i++, weight *= 128) {
    const byte = bytes[i] ?? 0;
    value += (byte & 127) * weight;
    if (byte < 128) return value;
  }
}

function packed(value: number): number[] {
  return value < 128 ? [value] : [128 + (value % 128), ...packed(Math.floor(value / 128))];
}

function increased(bytes: PackedCounts, at: number): PackedCounts {
  let i = at;
  for (; bytes[i] === 255; i++) bytes[i] = 128;
  if (bytes[i] === 127) return replaced(bytes, i, i + 1, [128, 1]);
  bytes[i]!++;
  return bytes;
}

function replaced(bytes: PackedCounts, from: number, to: number, by: number[]): PackedCounts {
  const made = new Uint8Array(from + by.length + Math.max(0, bytes.length - to));
  made.set(bytes.subarray(0, from));
  made.set(by, from);
  made.set(bytes.subarray(to), from + by.length);
  return made;
}
