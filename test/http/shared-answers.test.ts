import { expect, test } from 'bun:test';
import { createSharedAnswers } from '../../src/http/shared-answers.ts';

/** Creates shared answers that take `costMs` each to compute. Only computing them and `advance` move their clock. */
function answersThatTake(costMs: number) {
  let now = 0;
  let made = 0;
  const shared = createSharedAnswers(() => now);
  const make = async (): Promise<Response> => {
    now += costMs;
    made++;
    return new Response(`${made}`, { headers: { 'content-type': 'application/json' } });
  };
  return {
    shared,
    make,
    ask: async (key = 'a') => Number(await (await shared.answer(key, make)).text()),
    advance: (ms: number) => {
      now += ms;
    },
  };
}

test('a cheap answer is computed for every request', async () => {
  const { ask, advance } = answersThatTake(1);
  for (let i = 1; i <= 200; i++) {
    expect(await ask()).toBe(i);
    advance(50);
  }
});

test('an expensive answer is reused for a short time', async () => {
  const { ask, advance, shared, make } = answersThatTake(10);
  const answers: number[] = [];
  for (let i = 0; i < 100; i++) {
    answers.push(await ask());
    advance(1);
  }
  expect(answers.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
  expect(answers.slice(5)).toEqual(Array(95).fill(5));
  const again = await shared.answer('a', make);
  expect(again.status).toBe(200);
  expect(again.headers.get('content-type')).toBe('application/json');
  // Another key has a budget of its own.
  expect(await ask('b')).toBe(6);
  advance(300);
  expect(await ask()).toBe(7);
});

test('parallel requests share an answer that is started after the last of them', async () => {
  const { shared } = answersThatTake(0);
  let seen = 'too early';
  let made = 0;
  const make = async (): Promise<Response> => new Response(`${seen}, ${++made}`);
  const requests = [shared.answer('a', make), shared.answer('a', make), shared.answer('b', make)];
  seen = 'in time';
  requests.push(shared.answer('a', make));
  const texts = await Promise.all(requests.map(async (one) => (await one).text()));
  expect(texts).toEqual(['in time, 1', 'in time, 1', 'in time, 2', 'in time, 1']);
  expect(await (await shared.answer('a', make)).text()).toBe('in time, 3');
});

test('after forget() no answer is reused that was started before it', async () => {
  const { ask, shared } = answersThatTake(100);
  expect(await ask()).toBe(1);
  expect(await ask()).toBe(1);
  shared.forget();
  expect(await ask()).toBe(2);
  expect(await ask()).toBe(2);
  shared.forget();
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<Response>();
  const slow = shared.answer('a', () => {
    begun.resolve();
    return finished.promise;
  });
  await begun.promise;
  shared.forget();
  const next = ask();
  finished.resolve(new Response('seen before the change'));
  expect(await (await slow).text()).toBe('seen before the change');
  expect(await next).toBe(3);
  expect(await ask()).toBe(3);
});

test('a failed answer is not reused', async () => {
  const { ask, shared, advance } = answersThatTake(100);
  const fails = (): Promise<Response> => {
    advance(1000);
    return Promise.reject(new Error('away'));
  };
  const both = await Promise.allSettled([shared.answer('a', fails), shared.answer('a', fails)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe(1);
  expect(await (await shared.answer('b', async () => new Response('no', { status: 404 }))).text()).toBe('no');
  expect(await ask('b')).toBe(2);
});
