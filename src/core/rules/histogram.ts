import { LATEST_DATE_MS } from '../time/time.ts';

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

/** The upper bounds of the buckets in the metrics. One more bucket has no bound. */
export const METRIC_BOUNDS_MS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000,
  1_800_000, 3_600_000,
];

/**
 * The upper bounds of the buckets. A bound is at most a tenth, or 1 ms, above the one before it, so every duration in a bucket
 * is within 5% of its middle. The bounds of the metrics are among them, so a bucket of the metrics is a sum of whole buckets.
 * Databases contain the indexes of buckets, so this list must never change.
 */
function bounds(): readonly number[] {
  knownBounds ??= makeBounds();
  return knownBounds;
}

/** The bounds are made on first use, because most commands need none. */
let knownBounds: readonly number[] | null = null;

export const bucketCount = (): number => bounds().length;

function makeBounds(): number[] {
  const bounds = [0];
  for (let last = 0; last < LATEST_DATE_MS; last = bounds.at(-1)!) {
    const next = Math.max(last + 1, Math.floor(last * 1.1));
    bounds.push(Math.min(next, METRIC_BOUNDS_MS.find((bound) => bound > last) ?? LATEST_DATE_MS));
  }
  return bounds;
}

/** The sum, the shortest and the longest of some durations in milliseconds. */
interface Summary {
  sumMs: number;
  /** Null, like `most`, if there are no durations. */
  least: number | null;
  most: number | null;
}

export interface Histogram extends Summary {
  /** The number of durations by bucket. Empty buckets are missing. */
  counts: Map<number, number>;
}

export function emptyHistogram(): Histogram {
  return { counts: new Map(), sumMs: 0, least: null, most: null };
}

/** Returns the index of the bucket that a duration belongs to. */
export function bucketOf(ms: number): number {
  let low = 0;
  const limits = bounds();
  let high = limits.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ms <= limits[middle]!) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function sampleCount({ counts }: Histogram): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

/** Returns the number of durations of at most `boundMs`, which must be one of METRIC_BOUNDS_MS. */
export function countUpTo({ counts }: Histogram, boundMs: number): number {
  const limits = bounds();
  let sum = 0;
  for (const [bucket, count] of counts) if (limits[bucket]! <= boundMs) sum += count;
  return sum;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Returns the percentiles by nearest rank, each within 5% of the real one, or null for an empty histogram. */
export function percentilesOf(histogram: Histogram): Percentiles | null {
  const { counts, least, most } = histogram;
  const count = sampleCount(histogram);
  if (count === 0 || least === null || most === null) return null;
  const buckets = [...counts].sort(([a], [b]) => a - b);
  // The lowest and the highest value are known. Any other counts as the middle of its bucket.
  return percentilesByRank(count, (rank) => {
    if (rank === 1) return least;
    if (rank === count) return most;
    const bucket = bucketOfRank(buckets, rank);
    const low = bucket === 0 ? 0 : bounds()[bucket - 1]! + 1;
    return harmonicMean(Math.max(least, low), Math.min(most, bounds()[bucket]!));
  });
}

/** Returns the percentiles of `count` values. `at` returns the value of a rank, which is 1 for the lowest value. */
export function percentilesByRank(count: number, at: (rank: number) => number): Percentiles {
  const percentile = (percent: number): number => at(Math.ceil((percent * count) / 100));
  return { p50: percentile(50), p95: percentile(95), p99: percentile(99) };
}

function bucketOfRank(buckets: [bucket: number, count: number][], rank: number): number {
  let reached = 0;
  return buckets.find(([, count]) => {
    reached += count;
    return rank <= reached;
  })![0];
}

/** Returns the value that differs from both ends by the same percentage of that end. */
function harmonicMean(low: number, high: number): number {
  return high === 0 ? 0 : Math.round((2 * low * high) / (low + high));
}

export function addHistogram(to: Histogram, from: Histogram): void {
  for (const [bucket, count] of from.counts) to.counts.set(bucket, (to.counts.get(bucket) ?? 0) + count);
  addSummary(to, from);
}

export function addSummary(to: Summary, { sumMs, least, most }: Summary): void {
  to.sumMs += sumMs;
  if (least !== null) to.least = Math.min(to.least ?? least, least);
  if (most !== null) to.most = Math.max(to.most ?? most, most);
}
