import { describe, expect, test } from 'bun:test';
import { createTurns } from '../../src/worker/slots.ts';
import { until } from '../support/queuectl.ts';

const ignore = (): void => {};
const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns turns, after jobs that ran for this long. */
async function turnsAfter(runMs: number, jobs = 20, aheadPerSlot = 1, slots = 2) {
  const turns = createTurns(slots, { aheadPerSlot, aheadMs: 20, mostAhead: 20 });
  for (let i = 0; i < jobs; i++) {
    await turns.take(ignore);
    turns.free(runMs);
  }
  return turns;
}

/** Takes a turn and records the answer in `answers`. */
function take(turns: ReturnType<typeof createTurns>, answers: boolean[]): void {
  void turns.take(ignore).then((answer) => answers.push(answer));
}

describe('the slots of a worker', () => {
  test('no job is claimed ahead before it is known that jobs are short', async () => {
    expect(createTurns(2).ahead).toBe(0);
    expect((await turnsAfter(1, 1)).ahead).toBe(0);
  });

  test('jobs are claimed ahead while jobs are short', async () => {
    const turns = await turnsAfter(1);
    expect(turns.ahead).toBe(2);
    for (let i = 0; i < 3; i++) take(turns, []);
    expect(turns).toMatchObject({ running: 2, waiting: 1, ahead: 1 });
  });

  test('several jobs are claimed ahead for each slot, but only as many as it runs within a short time', async () => {
    const turns = await turnsAfter(1, 40, 8);
    expect(turns.ahead).toBe(16);
    for (let i = 0; i < 5; i++) take(turns, []);
    expect(turns).toMatchObject({ running: 2, waiting: 3, ahead: 13 });
    expect((await turnsAfter(6, 40, 8)).ahead).toBe(6);
    expect((await turnsAfter(15, 40, 8)).ahead).toBe(2);
    expect((await turnsAfter(24, 40, 8)).ahead).toBe(0);
    expect((await turnsAfter(0, 80, 8)).ahead).toBe(16);
    // A worker with many slots claims no large batches.
    expect((await turnsAfter(1, 40, 8, 4)).ahead).toBe(20);
    expect((await turnsAfter(1, 40, 8, 30)).ahead).toBe(30);
  });

  test('no job is claimed ahead while jobs are long', async () => {
    expect((await turnsAfter(100)).ahead).toBe(0);
  });

  test('an attempt that waited too long during a freeze is given back, even if a slot is free at once afterwards', async () => {
    const turns = await turnsAfter(1);
    for (let i = 0; i < 2; i++) take(turns, []);
    const answers: boolean[] = [];
    take(turns, answers);
    // Blocks the timers, too.
    for (const start = performance.now(); performance.now() - start < 50; );
    turns.free(1);
    await nextImmediate();
    expect(answers).toEqual([false]);
  });

  test('an attempt starts when another one frees its slot, in the order of the claims', async () => {
    const turns = await turnsAfter(1);
    const started: number[] = [];
    for (let i = 0; i < 4; i++) void turns.take(ignore).then((may) => may && started.push(i));
    await nextImmediate();
    expect(started).toEqual([0, 1]);
    turns.free(1);
    await nextImmediate();
    expect(started).toEqual([0, 1, 2]);
    expect(turns).toMatchObject({ running: 2, waiting: 1 });
  });

  test('attempts that wait for a long job are given back, and nothing more is claimed ahead', async () => {
    const turns = await turnsAfter(1);
    const answers: boolean[] = [];
    for (let i = 0; i < 4; i++) take(turns, answers);
    await until(() => answers.length === 4, 'all have an answer');
    expect(answers).toEqual([true, true, false, false]);
    expect(turns).toMatchObject({ running: 2, waiting: 0, ahead: 0 });
  });

  test('attempts are also given back if slots get free, but too slowly', async () => {
    const turns = await turnsAfter(1, 40, 8);
    const answers: boolean[] = [];
    for (let i = 0; i < 12; i++) take(turns, answers);
    const freeing = setInterval(() => turns.free(15), 15);
    await until(() => answers.length === 12, 'all have an answer');
    clearInterval(freeing);
    expect(answers.filter((mayStart) => !mayStart).length).toBeGreaterThanOrEqual(4);
    expect(turns.waiting).toBe(0);
  });

  test('an attempt that is asked to end while it waits is given back, and the others keep waiting', async () => {
    const turns = await turnsAfter(1);
    for (let i = 0; i < 2; i++) take(turns, []);
    let giveBack = ignore;
    const asked = turns.take((request) => {
      giveBack = request;
    });
    const others: boolean[] = [];
    take(turns, others);
    giveBack();
    expect(await asked).toBe(false);
    expect(others).toEqual([]);
    expect(turns.waiting).toBe(1);
    giveBack();
    expect(turns.waiting).toBe(1);
  });
});
