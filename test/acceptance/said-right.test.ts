import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox } from '../support/queuectl.ts';

const FULL = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];

test.concurrent(
  'who cannot write what was added says that it was, and nothing is unexpected',
  inSandbox(async (box) => {
    const one = await box.run(['enqueue', '--id', 'one', 'true'], { through: FULL });
    expect(one.code).toBe(1);
    expect(one.stderr).toMatch(/^error: cannot write the output: .*; job one was added\n/);
    const file = await box.run(['enqueue', '--file', '-'], { through: FULL, stdin: 'a\nb\n' });
    expect(file.stderr).toMatch(/^error: cannot write the output: .*; 2 jobs were added\n/);
    expect(await box.json(['list'])).toHaveLength(3);
    expect((await box.run(['list'], { through: FULL })).stderr).toMatch(/^error: cannot write the output: /);
  }),
);

test.concurrent(
  'a stderr that cannot be written to ends nothing',
  inSandbox(async (box) => {
    const through = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'];
    const added = await box.run(['enqueue', '--id', 'a', '{"command":"true","unknown":1}'], { through });
    expect(added).toEqual({ code: 0, stdout: 'a\n', stderr: '' });
    expect((await box.run(['show', 'nobody'], { through })).code).toBe(3);
  }),
);

test.concurrent(
  'quotes around the values of an --env-file are taken off, others stay',
  inSandbox(async (box) => {
    const file = join(box.directory, 'env');
    writeFileSync(file, `A="a b"\nexport B='c $HOME'\nC="half\nD=plain "x"\nE=""\n`);
    await box.run(['enqueue', '--id', 'job', '--env-file', file, 'true']);
    const { env } = await box.json<{ env: Record<string, string> }>(['show', 'job']);
    expect(env).toEqual({ A: 'a b', B: 'c $HOME', C: '"half', D: 'plain "x"', E: '' });
  }),
);

test.concurrent(
  'a long circle is told in a line of bearable length',
  inSandbox(async (box) => {
    const jobs = Array.from({ length: 1000 }, (_, i) => ({
      ...{ id: `n${i}`, command: 'true', depends_on: [`n${(i + 1) % 1000}`] },
    }));
    const stdin = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
    const { code, stderr } = await box.run(['enqueue', '--file', '-'], { stdin });
    expect(code).toBe(2);
    expect(stderr.length).toBeLessThan(400);
    expect(stderr).toMatch(/jobs wait for each other: 'n\d+' waits for .*….*, 1000 jobs in all/);
    expect(await box.json(['list'])).toEqual([]);
  }),
);

test.concurrent(
  'a wait for nothing says so, and is over',
  inSandbox(async (box) => {
    expect(await box.run(['wait', '--queue', 'none'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'warning: no job matches; there is nothing to wait for\n',
    });
  }),
);
