import { describe, expect, test } from 'bun:test';
import { addPacked, addToPacked, isPacked, type PackedCounts } from '../../src/core/rules/histogram.ts';
import { below, seededRandom } from '../support/random.ts';

const BUCKET_COUNT = 400;

function unpack(bytes: PackedCounts): Map<number, number> {
  const counts = new Map<number, number>();
  addPacked(counts, bytes, BUCKET_COUNT);
  return counts;
}

describe('packed counts', () => {
  test('hold every count that was added, in any order', () => {
    const random = seededRandom('packed');
    for (let round = 0; round < 50; round++) {
      const expected = new Map<number, number>();
      const used = 1 + below(random, BUCKET_COUNT);
      let packed: PackedCounts | null = null;
      for (let i = 0; i < 1 + below(random, 3000); i++) {
        const bucket = below(random, used);
        packed = addToPacked(packed, bucket);
        expected.set(bucket, (expected.get(bucket) ?? 0) + 1);
      }
      expect(unpack(packed!)).toEqual(expected);
      expect(isPacked(packed, BUCKET_COUNT)).toBe(true);
    }
  });

  test('stay correct when a count needs another byte', () => {
    let packed = addToPacked(addToPacked(null, 5), 300);
    for (let count = 2; count <= 40_000; count++) {
      packed = addToPacked(packed, 5);
      if (count % 127 < 3 || count % 16_384 < 3)
        expect([...unpack(packed)]).toEqual([
          [5, count],
          [300, 1],
        ]);
    }
    expect(packed.length).toBeLessThan(8);
  });

  test('that are damaged are recognised, are read up to the damage, and can still be added to', () => {
    const random = seededRandom('damage');
    expect(isPacked(Uint8Array.of(1, 1, 1, 0), BUCKET_COUNT)).toBe(false);
    expect(isPacked(Uint8Array.of(1, 1, 0, 1), BUCKET_COUNT)).toBe(false);
    expect(isPacked(Uint8Array.of(1, 1, 1), BUCKET_COUNT)).toBe(false);
    expect(isPacked(Uint8Array.of(1, 129), BUCKET_COUNT)).toBe(false);
    expect(isPacked(Uint8Array.of(144, 3, 1), BUCKET_COUNT)).toBe(true);
    expect(isPacked(Uint8Array.of(145, 3, 1), BUCKET_COUNT)).toBe(false);
    expect(isPacked(new Uint8Array(0), BUCKET_COUNT)).toBe(false);
    expect(isPacked('1', BUCKET_COUNT)).toBe(false);
    expect([...unpack(Uint8Array.of(3, 9, 2, 0, 7, 7))]).toEqual([[2, 9]]);
    for (let round = 0; round < 2000; round++) {
      const bytes = Uint8Array.from({ length: below(random, 12) }, () => below(random, 256));
      expect(addToPacked(bytes.slice(), below(random, BUCKET_COUNT)).length).toBeLessThan(bytes.length + 6);
      for (const [bucket, count] of unpack(bytes))
        expect([bucket < BUCKET_COUNT, Number.isSafeInteger(count)]).toEqual([true, true]);
    }
  });
});
