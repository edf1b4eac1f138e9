import { expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  configure,
  enqueue,
  inSandbox,
  type JobJson,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

interface PlacedJson extends JobJson {
  runs_on: string | null;
  waiting_for: string | null;
}

const listIds = async (box: Sandbox, ...filter: string[]): Promise<string[]> =>
  (await box.json<JobJson[]>(['list', ...filter])).map(({ id }) => id);

test(
  'jobs run only on workers with their label or on their host, and do not delay others',
  inSandbox(async (box) => {
    const trace = join(box.directory, 'trace');
    // Nothing polls, so every job must be found when it is enqueued or due.
    await configure(box, { 'poll-interval': '1h' });
    await box.startWorkers('--queue', 'other');
    const worker = box.start(['worker', 'start', '--label', 'gpu,big', '--label', 'fast'], {
      env: { QUEUECTL_HOSTNAME: 'alpha' },
    });
    await until(() => worker.output().includes(' ready '), 'the worker is ready');
    expect(await box.json(['worker', 'list'])).toContainEqual(
      expect.objectContaining({ hostname: 'alpha', labels: ['gpu', 'big', 'fast'] }),
    );
    expect((await box.run(['worker', 'list'])).stdout).toContain('gpu,big,fast');
    const command = `echo $QUEUECTL_JOB_ID >>${trace}`;
    for (const [i, on] of ['tpu', 'host:beta', 'tpu'].entries())
      await box.json(['enqueue', '--id', `none-${i}`, '--on', on, '--priority', 'urgent', command]);
    await box.json(['enqueue', '--id', 'gpu', '--on', 'gpu', command]);
    await box.json(['enqueue', '--id', 'alpha', '--on', 'host:alpha', command]);
    await box.json(['enqueue', '--id', 'any', '--on', 'none', command]);
    expect(await enqueue(box, 'alias', command, { on: 'fast', delay: '1s' })).toMatchObject({
      runs_on: 'fast',
    });
    await box.json(['schedule', 'add', 'ticking', '--every', '1s', '--on', 'big', command]);
    for (const id of ['gpu', 'alpha', 'any', 'alias']) await untilState(box, id, 'completed');
    await until(() => lines(trace).length > 4, 'a scheduled job has run');
    await box.json(['schedule', 'remove', 'ticking']);
    const [ticked] = await box.json<PlacedJson[]>(['list', '--all', '--where', 'priority<1', '--limit', '1']);
    expect(ticked!.runs_on).toBe('big');

    expect(await listIds(box, '--waiting-for', 'no_worker')).toEqual(['none-2', 'none-1', 'none-0']);
    expect(await listIds(box, '--waiting-for', 'ready')).toEqual([]);
    expect(await box.json(['status'])).toMatchObject({ waiting_for: { no_worker: 3, ready: 0 } });
    expect((await box.run(['show', 'none-0'])).stdout).toContain('waiting for\tno worker with label tpu');
    expect((await box.run(['show', 'none-0'])).stdout).toContain('runs on\ttpu');
    const explained = (await box.run(['explain', 'none-0'])).stdout;
    expect(explained).toContain(
      'no worker with label tpu takes jobs; to start one: queuectl worker start --label tpu',
    );
    expect((await box.run(['explain', 'none-1'])).stdout).toContain(
      'no worker on host beta takes jobs; to start one, run there: queuectl worker start',
    );
    const table = await box.run(['list'], { env: { COLUMNS: '200' } });
    expect(table.stdout).toContain('no_worker');

    const waited = await box.run(['wait', 'none-0', '--timeout', '1ms']);
    expect(waited.stderr).toContain('no worker with label tpu takes jobs');
    expect((await box.run(['edit', 'none-0', '--on', 'gpu'])).code).toBe(0);
    expect((await box.run(['edit', 'none-1', '--on', 'none'])).code).toBe(0);
    for (const id of ['none-0', 'none-1']) await untilState(box, id, 'completed');
    expect(await box.json<PlacedJson>(['show', 'none-1'])).toMatchObject({ runs_on: null });
    expect(lines(trace)).not.toContain('none-2');
  }),
);

test(
  'a worker with --drain does not wait for jobs that it cannot take, and a job in a file keeps its label',
  inSandbox(async (box) => {
    const trace = join(box.directory, 'trace');
    const jobs = ['a', 'b'].map((id, i) => ({
      ...{ id, command: `echo ${id} >>${trace}`, runs_on: i === 0 ? 'gpu' : 'tpu' },
    }));
    await box.run(['enqueue', '--file', '-'], { stdin: jobs.map((job) => JSON.stringify(job)).join('\n') });
    const drained = await box.run(['worker', 'start', '--drain', '--label', 'gpu']);
    expect(drained.code).toBe(0);
    expect(drained.stderr).toContain('1 job remains');
    expect(lines(trace)).toEqual(['a']);
    expect(await box.json(['show', 'b'])).toMatchObject({ state: 'pending', runs_on: 'tpu' });
    const copy = await box.run(['enqueue', '--again', 'b', '--id', 'c']);
    expect(copy.code).toBe(0);
    expect(await box.json(['show', 'c'])).toMatchObject({ runs_on: 'tpu' });
  }),
);

test(
  'bad labels are refused with one line, and nothing is added',
  inSandbox(async (box) => {
    await box.create();
    expectRefusal(await box.run(['enqueue', '--on', '', 'true']), 2, /--on must not be empty/);
    expectRefusal(await box.run(['enqueue', '--on', 'host:', 'true']), 2, /--on needs the name of a host/);
    expectRefusal(await box.run(['enqueue', '{"command":"true","runs_on":5}']), 2, /runs_on must be/);
    for (const label of ['host:alpha', 'none', '', ' '])
      expectRefusal(await box.run(['worker', 'start', '--label', label]), 2, /--label must not be/);
    expect(await box.json(['list'])).toEqual([]);
  }),
);
