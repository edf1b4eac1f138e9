import { describe, expect, test } from 'bun:test';
import { createScan } from '../../src/exec/kill.ts';
import type { FoundProcess, Target } from '../../src/exec/processes.ts';

const FOUND_PROCESS: FoundProcess = { pid: 7, group: 7, startTime: '1', stopped: false };

function countingScan(find: (attempt: Target) => FoundProcess[] = () => []) {
  const passes: number[] = [];
  const scan = createScan((attempts) => {
    passes.push(attempts.length);
    return new Map(attempts.map((one) => [one.cookie, find(one)]));
  });
  return { passes, scan };
}

describe('scan', () => {
  test('one pass answers all requests that were made before it', async () => {
    const { passes, scan } = countingScan(({ group }) => (group === 3 ? [FOUND_PROCESS] : []));
    const requests = Array.from({ length: 500 }, (_, i) => scan({ cookie: `c${i}`, group: i }));
    const found = await Promise.all(requests);
    expect(passes).toEqual([500]);
    expect(found[3]).toEqual([FOUND_PROCESS]);
    expect(found[4]).toEqual([]);
  });

  test('a request after a pass gets another pass', async () => {
    const { passes, scan } = countingScan();
    await scan({ cookie: 'a', group: 1 });
    await scan({ cookie: 'a', group: 1 });
    expect(passes).toEqual([1, 1]);
  });

  test('an error of a pass rejects all its requests', async () => {
    const scan = createScan(() => {
      throw new Error('no /proc');
    });
    const answers = await Promise.allSettled([
      scan({ cookie: 'a', group: 1 }),
      scan({ cookie: 'b', group: 2 }),
    ]);
    expect(answers.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  });
});
