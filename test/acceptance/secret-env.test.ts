import { expect } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { untilEnded } from '../support/execute.ts';
import { lines, type Sandbox, untilState } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const SECRET = 'hush-7f3a91c2';

/** Returns the names of the files below the home that contain the secret, and `export` if its output does. */
async function placesWithSecret(box: Sandbox): Promise<string[]> {
  const files = readdirSync(box.home, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(box.home, name);
    return statSync(path).isFile() && readFileSync(path).includes(SECRET);
  });
  return (await box.run(['export'])).stdout.includes(SECRET) ? [...files, 'export'] : files;
}

test("secret values come from the worker's environment, and only their names are stored", async (box) => {
  // The enqueue command also has the value in its environment.
  const env = { TOKEN: SECRET, KEY: 'k' };
  const worker = box.start(['worker', 'start', '--concurrency', '2'], { env });
  const job = {
    ...{ id: 'a', cwd: box.home, secret_env: ['TOKEN', 'KEY'], max_retries: 2 },
    // The command writes the value to a file outside the home, which proves that it arrives.
    command: 'echo "$TOKEN $KEY" >>../values; echo done; seq 1 9000; exit 3',
    ...{ on_failure: 'true', stdin: 'x', split_output: true, backoff: 'fixed', retry_delay: 0 },
  };
  await box.run(['enqueue', JSON.stringify(job)], { env });
  await untilEnded(box, 'a');
  expect(lines(join(box.directory, 'values'))).toEqual([`${SECRET} k`, `${SECRET} k`]);
  for (const args of [['show', 'a'], ['list'], ['logs', 'a'], ['show', 'a', '--json'], ['list', '--json']]) {
    const { stdout, stderr } = await box.run(args);
    expect(stdout + stderr).not.toContain(SECRET);
  }
  expect(await box.json<object>(['show', 'a'])).toMatchObject({
    secret_env: ['TOKEN', 'KEY'],
    env: {},
  });
  expect(worker.output()).not.toContain(SECRET);
  expect(await placesWithSecret(box)).toEqual([]);

  // A value given with --env is stored, which proves that the search can find it.
  await box.run(['enqueue', '--env', `TOKEN=${SECRET}`, '--delay', '1h', 'true']);
  expect(await placesWithSecret(box)).toContain('export');
});

test('a job whose worker lacks a secret fails with the name of the secret, and runs on a worker that has it', async (box) => {
  const first = box.start(['worker', 'start'], { env: { TOKEN: '' } });
  const flags = [
    '--secret-env',
    'TOKEN,MISSING_ONE',
    '--secret-env',
    'MISSING_TWO',
    '-r',
    '2',
    '--backoff-base',
    '1000',
  ];
  await box.run(['enqueue', '--id', 'a', ...flags, 'echo "[$TOKEN]" $MISSING_ONE $MISSING_TWO']);
  expect(await untilState(box, 'a', 'failed')).toMatchObject({
    ...{ attempts: 1, exit_code: null },
    last_error: "secret variable MISSING_ONE is not in the worker's environment",
  });
  first.child.kill('SIGTERM');
  await first.exit;
  box.start(['worker', 'start'], { env: { TOKEN: '', MISSING_ONE: 'one', MISSING_TWO: 'two' } });
  await box.run(['retry', 'a']);
  const { job, output } = await untilEnded(box, 'a');
  expect(job).toMatchObject({ state: 'completed' });
  expect(output).toBe('[] one two\n');
});
