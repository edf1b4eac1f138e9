import { expect, test } from 'bun:test';
import { processes } from '../../src/exec/processes.ts';
import {
  bootClock,
  lineage,
  programStart,
  STARTED,
  startedBefore,
  startText,
  untilAfter,
} from '../../src/exec/started.ts';

const boot = processes.bootId();

test('a process knows its ancestors by pid and start time', () => {
  const names = lineage();
  expect(names[0]).toBe(`${process.pid}:${processes.startTime(process.pid)}`);
  expect(names[1]).toBe(`${process.ppid}:${processes.startTime(process.ppid)}`);
});

test('the start of a program is read once, and survives the way through the environment', () => {
  const own = programStart({});
  expect(own.born).toBeLessThanOrEqual(own.reached);
  expect(own.reached).toBeLessThanOrEqual(bootClock());
  const environment: NodeJS.ProcessEnv = { [STARTED]: startText(own), OTHER: '1' };
  expect(programStart(environment)).toEqual(own);
  expect(environment).toEqual({ OTHER: '1' });
});

test('which programs had started when the order was given', () => {
  const at = bootClock() - 5000;
  const order = { boot, at, by: ['7:1'] };
  const start = { process: '8:2', born: at - 100, reached: at - 50 };
  expect(startedBefore(start, order)).toBe(true);
  // The shell had made its process, but it had to wait for the processor.
  expect(startedBefore({ ...start, born: at, reached: at + 900 }, order)).toBe(true);
  // A process that was made after the order, and an old one that became the program later.
  expect(startedBefore({ ...start, born: at + 10, reached: at + 20 }, order)).toBe(false);
  expect(startedBefore({ ...start, reached: at + 2000 }, order)).toBe(false);
  // The shell that gave the order and then became the program.
  expect(startedBefore({ ...start, process: '7:1', reached: at + 5 }, order)).toBe(false);
  // A clock of another boot, and one that was set back.
  expect(startedBefore(start, { ...order, boot: 'another' })).toBe(false);
  expect(startedBefore(start, { ...order, at: bootClock() + 60_000 })).toBe(false);
});

test('after the wait no new process is as old as the order', async () => {
  const at = bootClock();
  await untilAfter(at);
  expect(bootClock()).toBeGreaterThan(at);
});
