import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { processes } from '../../src/exec/processes.ts';
import {
  currentStopMark,
  programStart,
  STARTED_VARIABLE,
  startedBefore,
  startText,
  untilClockAfter,
} from '../../src/exec/stop-mark.ts';
import { until } from '../support/queuectl.ts';

const boot = processes.bootId();

test('a mark names this process and its parent by pid and start time', () => {
  const names = currentStopMark().by;
  expect(names[0]).toBe(`${process.pid}:${processes.startTime(process.pid)}`);
  expect(names[1]).toBe(`${process.ppid}:${processes.startTime(process.ppid)}`);
});

test('the start of a program is passed on through a variable, which is removed when it is read', () => {
  const own = programStart({});
  expect(own.born).toBeLessThanOrEqual(own.readClockAt);
  expect(own.readClockAt).toBeLessThanOrEqual(processes.clock());
  const environment: NodeJS.ProcessEnv = { [STARTED_VARIABLE]: startText(own), OTHER: '1' };
  expect(programStart(environment)).toEqual(own);
  expect(environment).toEqual({ OTHER: '1' });
});

const at = processes.clock() - 5000;
const pidNamespace = processes.pidNamespace();
const mark = {
  ...{ boot, at, by: ['7:1'] },
  programs: { pidNamespace, running: ['7:1', '8:2'], forked: ['9:3'] },
};
const start = { process: '8:2', born: at - 100, readClockAt: at - 50 };

test('startedBefore returns whether a program had started at the time of the mark', () => {
  expect(startedBefore(start, mark)).toBe(true);
  // This program is listed, but had to wait for the processor for a long time.
  expect(startedBefore({ ...start, readClockAt: at + 4000 }, mark)).toBe(true);
  // The shell had forked this process, which had not executed the program yet.
  const fork = { process: '9:3', born: at, readClockAt: at + 900 };
  expect(startedBefore(fork, mark)).toBe(true);
  // The first program is a subshell that executed queuectl later. The second one is not listed.
  expect(startedBefore({ ...fork, readClockAt: at + 2000 }, mark)).toBe(false);
  expect(startedBefore({ ...fork, process: '10:1' }, mark)).toBe(false);
  // This is the shell that requested the stop and then executed the program.
  expect(startedBefore({ ...start, process: '7:1', readClockAt: at + 5 }, mark)).toBe(false);
  // The first mark is of another boot, and the second one is in the future.
  expect(startedBefore(start, { ...mark, boot: 'another' })).toBe(false);
  expect(startedBefore(start, { ...mark, at: processes.clock() + 60_000 })).toBe(false);
});

for (const [what, programs] of Object.entries({
  'of an older version': undefined,
  'without a list of processes': null,
  'of another pid namespace': { pidNamespace: 'another', running: ['8:2'], forked: ['8:2'] },
}))
  test(`a mark ${what} is compared with the age of the process`, () => {
    const { programs: _, ...rest } = mark;
    const otherMark = programs === undefined ? rest : { ...rest, programs };
    expect(startedBefore(start, otherMark)).toBe(true);
    expect(startedBefore({ ...start, born: at, readClockAt: at + 900 }, otherMark)).toBe(true);
    expect(startedBefore({ ...start, born: at + 10, readClockAt: at + 20 }, otherMark)).toBe(false);
    expect(startedBefore({ ...start, readClockAt: at + 2000 }, otherMark)).toBe(false);
    expect(startedBefore({ ...start, process: '7:1', readClockAt: at + 5 }, otherMark)).toBe(false);
  });

test.skipIf(process.platform !== 'linux')(
  'a mark lists processes of this executable, and forks that have not executed a program yet',
  async () => {
    const { running } = currentStopMark().programs!;
    expect(running).toContain(`${process.pid}:${processes.startTime(process.pid)}`);
    // Starts a subshell that does not end, and a program beside it.
    const script = '(while :; do :; done) & echo $!; exec sleep 1000';
    const shell = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const pid = Number(String((await once(shell.stdout, 'data'))[0]));
      const [fork, other] = [pid, shell.pid!].map((one) => `${one}:${processes.startTime(one)}`);
      const found = processes.queuectlProcesses(0)!;
      expect(found.forked).toContain(fork!);
      expect(found.forked).not.toContain(other!);
      expect(found.running).not.toContain(fork!);
      expect(processes.queuectlProcesses(processes.clock() + 10)!.forked).not.toContain(fork!);
      process.kill(pid, 'SIGSTOP');
      await until(
        () => processes.queuectlProcesses(0)!.running.includes(fork!),
        'the stopped fork is listed as running',
      );
      process.kill(pid, 'SIGKILL');
    } finally {
      shell.kill('SIGKILL');
    }
  },
);

test('untilClockAfter waits until the clock has passed a time', async () => {
  const now = processes.clock();
  await untilClockAfter(now);
  expect(processes.clock()).toBeGreaterThan(now);
});
