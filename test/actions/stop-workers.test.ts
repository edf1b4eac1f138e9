import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { orderStop } from '../../src/actions/workers/stop-workers.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';

test('a stop of a host counts idle workers that are gone right after the order, and workers that register meanwhile', async () => {
  const host = { id: 'h', boot: 'b', pidNamespace: 'p' };
  const workerOf = (id: string) => ({
    ...{ id, supervisor: 's', hostname: 'beta', host, pid: 1, startTime: '1', bootHasLease: true },
    ...{ hasLease: true, hasLeft: false, currentJobs: [], order: null },
  });
  let workers = ['w1', 'w2', 'w3'].map(workerOf);
  const store = {
    manyHosts: true,
    workers: async () => workers,
    hosts: async () => [{ ...host, name: 'beta', hasLease: true }],
    supervisors: async () => [{ id: 's', host, pid: 1, startTime: '1', bootHasLease: true }],
    order: async () => {
      workers = [workerOf('w3'), workerOf('new')];
    },
  };
  const wakeups = { wake: () => {} };
  const app = { store, wakeups, stateDirectory: stateDirectory('/nonexistent') } as unknown as App;
  const ordered = await orderStop(app, 'drain', { host: 'beta' });
  expect(ordered).toMatchObject({ workerCount: 4, hosts: ['beta'], isAway: false });
});
