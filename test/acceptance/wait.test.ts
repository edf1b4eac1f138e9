import { afterAll, beforeAll, describe, expect, test as plainTest } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, enqueue, type JobJson, sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'kill-grace': '1s', 'max-retries': '1' });
  await box.startWorkers('--concurrency', '4', '--queue', 'default');
  await enqueue(box, 'good', 'true');
  await enqueue(box, 'seven', 'exit 7');
  await enqueue(box, 'nine', 'exit 9');
  await enqueue(box, 'never', 'true', { queue: 'nobody' });
});
afterAll(() => box.cleanup());

describe('wait', () => {
  const exitCodes: [job: string, command: string, fields: Record<string, unknown>, code: number][] = [
    ['a job that completes', 'true', {}, 0],
    ['a job that fails', 'exit 42', {}, 42],
    ['a job that is killed by a signal', 'kill -TERM $$', {}, 143],
    ['a job that exceeds its timeout', 'sleep 60', { timeout: 0.2 }, 124],
    ['a job whose program does not exist', 'nosuchprogram-x1', {}, 127],
    ['a job whose directory does not exist', 'true', { cwd: '/no/such/directory' }, 125],
  ];
  for (const [job, command, fields, code] of exitCodes) {
    plainTest(`exits with ${code} for ${job}`, async () => {
      const { id } = await enqueue(box, job.replaceAll(' ', '-'), command, fields);
      expect((await box.run(['wait', id])).code).toBe(code);
    });
  }

  plainTest(
    'exits with the first code that is not 0, in the order given, and prints tab-separated lines in a pipe',
    async () => {
      const { code, stdout } = await box.run(['wait', 'good', 'nine', 'seven', 'good']);
      expect(code).toBe(9);
      expect(stdout).toBe('good\tcompleted\t0\nnine\tdead\t9\nseven\tdead\t7\n');
      expect((await box.run(['wait', 'good', 'seven', '--quiet'])).stdout).toBe('');
    },
  );

  plainTest('returns with --any when the first job ends', async () => {
    const { code, stdout } = await box.run(['wait', '--any', 'never', 'seven']);
    expect([code, stdout]).toEqual([7, 'seven\tdead\t7\n']);
  });

  plainTest('selects jobs by the prefix of an id or by a filter', async () => {
    expect((await box.run(['wait', 'sev', 'goo'])).stdout).toBe('seven\tdead\t7\ngood\tcompleted\t0\n');
    expect((await box.run(['wait', '--state', 'dead', '--exit-code', '7'])).stdout).toBe('seven\tdead\t7\n');
    expect(await box.run(['wait', '--queue', 'nosuch'])).toMatchObject({ code: 0, stdout: '' });
  });

  plainTest('exits with 130 as soon as the job is cancelled', async () => {
    await enqueue(box, 'unwanted', 'true', { queue: 'nobody' });
    const waiting = box.start(['wait', 'unwanted']);
    await until(() => waiting.output().includes('no worker serves'), 'wait is running');
    await box.run(['cancel', 'unwanted']);
    expect(await waiting.closed).toBe(130);
    expect(waiting.stdout()).toBe('unwanted\tcancelled\t-\n');
  });

  plainTest('prints one JSON array of jobs', async () => {
    const { code, stdout } = await box.run(['wait', 'good', 'seven', '--json']);
    expect(code).toBe(7);
    const jobs = JSON.parse(stdout) as JobJson[];
    expect(jobs.map((job) => [job.id, job.state])).toEqual([
      ['good', 'completed'],
      ['seven', 'dead'],
    ]);
  });

  plainTest('exits with 124 on a timeout and lists the unfinished jobs', async () => {
    const { code, stdout, stderr } = await box.run(['wait', 'never', '--timeout', '200ms']);
    expect([code, stdout]).toEqual([124, '']);
    expect(stderr).toContain("job 'never' is still pending");
    expect(stderr).toContain('no worker serves queue nobody');
  });
});

describe('enqueue', () => {
  plainTest('leaves flags after -- to the program', async () => {
    // The id is taken, so enqueue exits with 4. If it obeyed --wait, it would exit with 125.
    expect((await box.run(['enqueue', '--id', 'good', '--', 'rm', '-f', '--wait', 'x'])).code).toBe(4);
  });

  plainTest("prints the id with --wait, then exits with the job's code", async () => {
    const { code, stdout } = await box.run(['enqueue', '--wait', '--id', 'waited', 'echo hidden; exit 6']);
    expect([code, stdout]).toEqual([6, 'waited\n']);
    const json = await box.run(['enqueue', '--wait', '--json', 'exit 6']);
    expect(JSON.parse(json.stdout)).toMatchObject({ state: 'dead', exit_code: 6 });
  });

  plainTest('is woken with --wait by the end of a job instead of polling', async () => {
    const timeOfTen = async (...flags: string[]): Promise<number> => {
      const start = performance.now();
      for (let i = 0; i < 10; i++) expect((await box.run(['enqueue', ...flags, 'true'])).code).toBe(0);
      return performance.now() - start;
    };
    const waits: number[] = [];
    // By polling alone each job would take half a second on average. A busy machine may need another try.
    do waits.push((await timeOfTen('--wait')) - (await timeOfTen()));
    while (waits.length < 3 && waits.at(-1)! > 2500);
    expect(Math.min(...waits)).toBeLessThan(2500);
  });

  plainTest('waits for all jobs of a file with --wait', async () => {
    const { code, stdout } = await box.run(['enqueue', '--wait', '--file', '-', '--json'], {
      stdin: 'true\nexit 5\nexit 4\n',
    });
    expect(code).toBe(5);
    expect((JSON.parse(stdout) as JobJson[]).map((job) => job.exit_code)).toEqual([0, 5, 4]);
  });

  plainTest('waits with --wait-timeout alone, and the job continues', async () => {
    const { code, stderr } = await box.run([
      'enqueue',
      '--id',
      'late',
      '--queue',
      'nobody',
      '--wait-timeout',
      '0.1',
      'true',
    ]);
    expect(code).toBe(124);
    expect(stderr).toContain("job 'late' is still pending");
    expect((await box.json<JobJson>(['show', 'late'])).state).toBe('pending');
  });

  plainTest("prints only the output with --follow and exits with the job's code", async () => {
    const { code, stdout, stderr } = await box.run([
      'enqueue',
      '-f',
      '--id',
      'followed',
      'echo shown; exit 8',
    ]);
    expect([code, stdout]).toEqual([8, 'shown\n']);
    expect(stderr).toBe('enqueued followed in queue default\n');
  });

  plainTest('refuses several jobs with --follow and adds none of them', async () => {
    const before = await box.json<{ total: number }>(['status']);
    const { code, stderr } = await box.run([
      'enqueue',
      '--follow',
      '[{"command":"true"},{"command":"true"}]',
    ]);
    expect(code).toBe(125);
    expect(stderr).toContain('only one job can be followed');
    expect((await box.json<{ total: number }>(['status'])).total).toBe(before.total);
  });

  test('reports with --wait that no worker is running, and leaves the job pending on SIGTERM', async (ownBox) => {
    const waiting = ownBox.start(['enqueue', '--wait', '--id', 'alone', 'true']);
    await until(() => waiting.output().includes('no worker is running'), 'the warning is printed');
    process.kill(waiting.pid, 'SIGTERM');
    expect(await waiting.closed).toBe(143);
    expect(waiting.output()).toEndWith('job alone is pending; to follow it: queuectl logs -f alone\n');
    expect((await ownBox.json<JobJson>(['show', 'alone'])).state).toBe('pending');
  });
});

plainTest.each([
  ['wait for an unknown job', ['wait', 'good', 'nosuch']],
  ['wait without a job', ['wait']],
  ['wait with an invalid duration', ['wait', 'good', '--timeout', 'soon']],
  ['wait with an unknown flag', ['wait', 'good', '--tiemout', '1s']],
  ['run with invalid JSON', ['run', '{"command":']],
  ['enqueue --wait with an invalid priority', ['enqueue', '--wait', '--priority', 'x', 'true']],
])('%s exits with 125', async (_, args) => {
  const { code, stderr } = await box.run(args);
  expect(code).toBe(125);
  expect(stderr).toStartWith('error: ');
});

plainTest('a hundred waiting processes all see one job end', async () => {
  await enqueue(box, 'one-end', 'until [ -e one-end ]; do sleep 0.02; done; exit 3');
  const waiters = Array.from({ length: 100 }, () => box.start(['wait', 'one-end', '--quiet']));
  writeFileSync(join(box.directory, 'one-end'), '');
  expect(new Set(await Promise.all(waiters.map((waiter) => waiter.exit)))).toEqual(new Set([3]));
});
