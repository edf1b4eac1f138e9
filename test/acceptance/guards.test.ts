import { expect, test } from 'bun:test';
import { stat } from '../../src/files/process-identity.ts';
import {
  enqueueLongJob,
  guardsOf,
  managersOf,
  overlaps,
  QUICK,
  runsOf,
  untilRuns,
  withHosts,
} from '../support/hosts.ts';
import { sendSignal } from '../support/processes.ts';
import { configure, until, untilState } from '../support/queuectl.ts';

test(
  'a guard stays for the jobs of killed workers if the only other guard is suspended',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await a.start('--queue', 'none');
    const idle = [...managersOf(a), ...guardsOf(a)];
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(idle, 'SIGSTOP');
    sendSignal(
      managersOf(a).filter((pid) => !idle.includes(pid)),
      'SIGKILL',
    );
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(overlaps(box)).toEqual([]);
  }),
  100_000,
);

test(
  'the guards of two supervisors that are killed together do not rely on each other',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await a.start('--queue', 'none');
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(managersOf(a), 'SIGKILL');
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(overlaps(box)).toEqual([]);
    await until(() => guardsOf(a).length === 0, 'the guards have ended');
  }),
  100_000,
);

test(
  'a guard stays for the jobs of killed workers until the guard of the next supervisor runs',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(managersOf(a), 'SIGKILL');
    // The next supervisor is suspended just before it starts its guard.
    const env = { ...a.environment, QUEUECTL_CRASH_AT: 'before-start:1:stop' };
    const next = box.start(['worker', 'start'], { env });
    await until(() => stat(next.pid)?.state === 'T', 'the next supervisor is suspended');
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(overlaps(box)).toEqual([]);
  }),
  100_000,
);
