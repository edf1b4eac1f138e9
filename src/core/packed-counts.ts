/**
 * The counts of a histogram in few bytes. Each bucket that is not empty has two numbers: its distance from the bucket before it
 * (the first one from -1), and its count. A number has seven bits per byte, the lowest first. All bytes but its last are
 * above 127.
 */
export type PackedCounts = Uint8Array;

/** Adds 1 to the count of a bucket. May change `bytes`, so use only the result afterwards. `bytes` is null if there are no counts. */
export function addToPacked(bytes: PackedCounts | null, bucket: number): PackedCounts {
  if (bytes === null) return Uint8Array.from([...pack(bucket + 1), 1]);
  let last = -1;
  let at = 0;
  while (at < bytes.length) {
    const countAt = endOf(bytes, at);
    const current = last + numberAt(bytes, at);
    if (current === bucket) return increaseAt(bytes, countAt);
    if (current > bucket)
      return splice(bytes, at, countAt, [...pack(bucket - last), 1, ...pack(current - bucket)]);
    last = current;
    at = endOf(bytes, countAt);
  }
  return splice(bytes, at, at, [...pack(bucket - last), 1]);
}

/** Adds packed counts to a map of counts by bucket. Stops at damaged bytes, and at a bucket from `end` up. */
export function addPacked(to: Map<number, number>, bytes: PackedCounts, end: number): void {
  readCounts(bytes, end, (bucket, count) => to.set(bucket, (to.get(bucket) ?? 0) + count));
}

/** Tells whether these are undamaged counts of at least one bucket, all of them below `end`. */
export function isPacked(bytes: unknown, end: number): bytes is PackedCounts {
  return bytes instanceof Uint8Array && bytes.length > 0 && readCounts(bytes, end, () => {}) === bytes.length;
}

/** Calls `visit` for each bucket up to the first damage. Returns the number of undamaged bytes. */
function readCounts(
  bytes: PackedCounts,
  end: number,
  visit: (bucket: number, count: number) => void,
): number {
  let last = -1;
  let at = 0;
  while (at < bytes.length) {
    const countAt = endOf(bytes, at);
    const next = endOf(bytes, countAt);
    const current = last + numberAt(bytes, at);
    const count = numberAt(bytes, countAt);
    if (next > bytes.length || current <= last || current >= end || count < 1 || !Number.isSafeInteger(count))
      break;
    visit(current, count);
    last = current;
    at = next;
  }
  return at;
}

/** Returns the index after the last byte of the number at `at`. */
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

function pack(value: number): number[] {
  return value < 128 ? [value] : [128 + (value % 128), ...pack(Math.floor(value / 128))];
}

/** Adds 1 to the number at `at`. */
function increaseAt(bytes: PackedCounts, at: number): PackedCounts {
  let i = at;
  for (; bytes[i] === 255; i++) bytes[i] = 128;
  if (bytes[i] === 127) return splice(bytes, i, i + 1, [128, 1]);
  bytes[i]!++;
  return bytes;
}

function splice(bytes: PackedCounts, from: number, to: number, inserted: number[]): PackedCounts {
  const result = new Uint8Array(from + inserted.length + Math.max(0, bytes.length - to));
  result.set(bytes.subarray(0, from));
  result.set(inserted, from);
  result.set(bytes.subarray(to), from + inserted.length);
  return result;
}
