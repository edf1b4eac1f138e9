import { expect, test } from 'bun:test';
import { serverClock } from '../../src/store/postgres/connection/server-clock.ts';

/** Returns a clock whose host shows 1000 at its monotonic time 0, and a function that sets that time. */
function clockAt() {
  let monotonic = 0;
  const clock = serverClock({ now: () => 1000 + monotonic, monotonic: () => monotonic });
  return {
    clock,
    goTo(ms: number) {
      monotonic = ms;
      return clock.now();
    },
  };
}

test('the clock shows the time of the host until it learns that of the server, and then goes on by the monotonic clock', () => {
  const { clock, goTo } = clockAt();
  expect(goTo(5)).toBe(1005);
  clock.learn(50_000, 10, 20);
  expect(goTo(15)).toBe(50_000);
  expect(goTo(115)).toBe(50_100);
});

test('a slow answer does not replace what a fast one told, until the clocks may have drifted', () => {
  const { clock, goTo } = clockAt();
  clock.learn(50_000, 10, 12);
  clock.learn(50_190, 100, 300);
  expect(goTo(11)).toBe(50_000);
  clock.learn(250_010, 200_000, 200_020);
  expect(goTo(200_010)).toBe(250_010);
});

test('a time that contradicts the known one replaces it, because a clock was set', () => {
  const { clock, goTo } = clockAt();
  clock.learn(50_000, 10, 12);
  clock.learn(3_000_000, 100, 500);
  expect(goTo(300)).toBe(3_000_000);
});
