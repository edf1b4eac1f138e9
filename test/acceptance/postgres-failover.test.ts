import { expect, test } from 'bun:test';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { withOwnServer } from '../support/own-server.ts';
import { sendSignal, untilWorkerOf } from '../support/processes.ts';
import { configure, type Sandbox, until, untilState } from '../support/queuectl.ts';

/** Waits until the workers have noticed another outage. */
async function untilReported(workers: { output(): string }, outages: number): Promise<void> {
  const reported = (): number => workers.output().split('running jobs continue').length - 1;
  await until(() => reported() >= outages, 'the outage is reported');
}

/** Waits until a heartbeat has reached the server, after which the next outage is reported. */
async function untilHeartbeat(box: Sandbox): Promise<void> {
  const read = async (): Promise<string> =>
    (await box.json<{ last_heartbeat: string }[]>(['worker', 'list']))[0]!.last_heartbeat;
  const first = await read();
  await until(async () => (await read()) !== first, 'the heartbeats go on');
}

test(
  'a worker with no free slot runs a job again if a server that lacks its result takes over',
  withOwnServer(async (box, server) => {
    await configure(box, { 'heartbeat-interval': '300ms' });
    const workers = await box.startWorkers();
    const lost = await startGatedJob(box, 'lost');
    await server.crash();
    server.keepData();
    await untilReported(workers, 1);
    await server.startAgain();
    await untilHeartbeat(box);
    lost.release();
    await untilState(box, 'lost', 'completed');
    const busy = await startGatedJob(box, 'busy');
    await untilHeartbeat(box);
    await server.crash();
    // Like a standby that the last changes have not reached, the server has neither the result nor the second job.
    server.goBackToKeptData();
    await untilReported(workers, 2);
    await server.startAgain();
    await untilHeartbeat(box);
    busy.release();
    await untilState(box, 'lost', 'completed');
    expect([lost.traces(), busy.traces()]).toEqual([[...ONE_RUN, ...ONE_RUN], ONE_RUN]);
    expect((await box.run(['show', 'busy'])).code).toBe(3);
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  }),
);

test(
  'a worker that has not noticed a failover runs a job again whose result was lost',
  withOwnServer(async (box, server) => {
    await configure(box, { 'heartbeat-interval': '300ms' });
    await box.startWorkers();
    const lost = await startGatedJob(box, 'lost');
    const { pid } = await untilWorkerOf(box, 'lost');
    // The worker is suspended while the server is away, so that every call of it finds a server.
    const whileSuspended = async (change: () => void): Promise<void> => {
      sendSignal([pid], 'SIGSTOP');
      await server.crash();
      change();
      await server.startAgain();
      sendSignal([pid], 'SIGCONT');
      await untilHeartbeat(box);
    };
    await whileSuspended(() => server.keepData());
    lost.release();
    await untilState(box, 'lost', 'completed');
    await whileSuspended(() => server.goBackToKeptData());
    await untilState(box, 'lost', 'completed');
    expect(lost.traces()).toEqual([...ONE_RUN, ...ONE_RUN]);
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  }),
);
