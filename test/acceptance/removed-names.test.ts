import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAddress } from '../support/http.ts';
import { type JobJson, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

/* What version 0.2.0 had and later ones do not is refused by name, with what to use instead. A label is a queue now. */

const IS_QUEUE = /is not supported: a label is a queue/;

test('flags for labels are refused with the flags that replace them', async (box) => {
  await box.run(['enqueue', '--id', 'job', '--hold', 'true']);
  for (const [args, hint] of [
    ['enqueue --on gpu true', 'use --queue gpu, and start a worker with --queue gpu'],
    [
      'enqueue --on=host:build-2 true',
      'use --queue host:build-2, and start a worker with --queue host:build-2',
    ],
    ['enqueue --runs_on gpu true', 'use --queue gpu,'],
    ['enqueue --label gpu true', 'use --queue gpu,'],
    ['schedule add tick --every 1h --on gpu true', 'use --queue gpu,'],
    ['edit job --on gpu', 'use --set-queue gpu, and start a worker with --queue gpu'],
    ['worker start --label gpu,big', 'use --queue gpu,big, and start a worker with --queue gpu,big'],
    ['list --label mail', 'use --queue mail, or --name mail'],
  ] as const) {
    const refused = await box.run(args.split(' '));
    expectRefusal(refused, 2, IS_QUEUE);
    expect(refused.stderr).toContain(hint);
  }
  expect(await box.json<JobJson[]>(['list'])).toMatchObject([{ id: 'job', queue: 'default' }]);
  expect(await box.json(['schedule', 'list'])).toEqual([]);
});

test('fields for labels are refused in JSON, from a file and through HTTP, unless they are null', async (box) => {
  for (const name of ['runs_on', 'runsOn', 'on', 'label', 'runs-on']) {
    const job = JSON.stringify({ command: 'true', [name]: 'gpu' });
    const refused = await box.run(['enqueue', job]);
    expectRefusal(refused, 2, IS_QUEUE);
    expect(refused.stderr).toContain(`'${name}'`);
    expect(refused.stderr).toContain("use the queue 'gpu', and start a worker with --queue gpu");
    expectRefusal(await box.run(['enqueue', '--file', '-'], { stdin: `${job}\n` }), 2, IS_QUEUE);
  }
  const printed = '{"id": "printed", "command": "true", "runs_on": null}';
  expect(await box.run(['enqueue', '--hold', printed])).toMatchObject({ code: 0, stderr: '' });
  const { url, token } = await readAddress(box.start(['serve', '--port', '0']));
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(IS_QUEUE);
  };
  await send('POST', '/jobs', { command: 'true', runs_on: 'gpu' });
  await send('PATCH', '/jobs/printed', { runs_on: 'gpu' });
  await send('POST', '/schedules', { name: 'tick', every: '1h', job: { command: 'true', on: 'gpu' } });
  expect((await box.json<JobJson[]>(['list'])).map(({ id }) => id)).toEqual(['printed']);
});

test('an import moves jobs and schedules with a label to the queue of that name, and says so', async (box) => {
  const job = (number: number, id: string, more: object) => ({
    job: {
      ...{
        number,
        id,
        queue: 1,
        state: 'pending',
        phase: 'ready',
        priority: 0,
        max_retries: 3,
        cwd: box.directory,
      },
      ...{ command: `echo ${id} >>ran`, created_at: 1, updated_at: 1, due_at: 1, runs_on: null, ...more },
    },
  });
  const ended = { phase: 'ended', due_at: null, finished_at: 2, runs_on: 'gpu' };
  const rows = [
    { queue: { number: 1, name: 'default' } },
    { queue: { number: 2, name: 'gpu' } },
    ...[job(1, 'plain', {}), job(2, 'labelled', { runs_on: 'gpu' }), job(3, 'hosted', { runs_on: 'host:a' })],
    ...[job(4, 'dead', { ...ended, state: 'dead' }), job(5, 'done', { ...ended, state: 'completed' })],
    {
      schedule: {
        ...{
          number: 1,
          name: 'tick',
          every_ms: 3_600_000,
          anchor_at: 1,
          overlap: 'skip',
          catch_up: 'none',
        },
        ...{ job: '{"command":"true","runsOn":"tpu"}', created_at: 1, next_at: 4_000_000_000_000 },
      },
    },
  ];
  const lines = [
    { queuectl: 'export', version: 1, epoch: '0123456789ab' },
    ...rows,
    { end: { rows: rows.length } },
  ];
  const file = join(box.directory, 'old.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const imported = await box.run(['import', file]);
  expect(imported.code).toBe(0);
  expect(imported.stderr).toContain('are now in the queue of that name (gpu, host:a, tpu)');
  expect(imported.stderr).toContain('queuectl worker start --queue gpu,host:a,tpu');
  const jobs = await box.json<(JobJson & { queue: string })[]>(['list', '--all']);
  expect(Object.fromEntries(jobs.map(({ id, queue }) => [id, queue]))).toEqual({
    ...{ plain: 'default', labelled: 'gpu', hosted: 'host:a', dead: 'gpu', done: 'default' },
  });
  expect(await box.json(['schedule', 'show', 'tick'])).toMatchObject({ queue: 'tpu' });
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  await box.startWorkers('--queue', 'gpu,host:a');
  for (const id of ['labelled', 'hosted']) await untilState(box, id, 'completed');
  expect(await box.json(['show', 'plain'])).toMatchObject({ state: 'pending' });
});

test('priority aging is refused in a flag and through HTTP, and an import leaves it out and says so', async (box) => {
  const refused = await box.run(['queue', 'set', 'mail', '--priority-aging', '1m']);
  expectRefusal(refused, 2, /--priority-aging is not supported/);
  expect(refused.stderr).toContain('a queue of their own');
  const lines = [
    { queuectl: 'export', version: 1, epoch: '0123456789ab' },
    { queue: { number: 1, name: 'mail', concurrency: 2, aging_ms: 60_000 } },
    { queue: { number: 2, name: 'other', aging_ms: null } },
    { end: { rows: 2 } },
  ];
  const imported = await box.run(['import', '-'], {
    stdin: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  expect(imported.code).toBe(0);
  expect(imported.stderr).toContain('waiting jobs no longer gain priority (queue mail)');
  expect(await box.json(['queue', 'list'])).toMatchObject([
    { name: 'mail', concurrency: 2 },
    { name: 'other' },
  ]);
  const { url, token } = await readAddress(box.start(['serve', '--port', '0']));
  const answer = await fetch(`${url}/api/v1/queues/mail`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"priority_aging": "1m"}',
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toMatch(/'priority_aging' is not supported/);
});
