import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { untilEnded } from '../support/execute.ts';
import { inSandbox, lines, type Sandbox, untilState } from '../support/queuectl.ts';

const SECRET = 'hush-7f3a91c2';

/** Returns every file below the home that contains the secret. */
function leaks(ownBox: Sandbox): string[] {
  return readdirSync(ownBox.home, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(ownBox.home, name);
    return statSync(path).isFile() && readFileSync(path).includes(SECRET);
  });
}

test(
  "secret values come from the worker's environment, and only their names are stored",
  inSandbox(async (ownBox) => {
    // The process that enqueues may have the value, too.
    const env = { TOKEN: SECRET, KEY: 'k' };
    const worker = ownBox.start(['worker', 'start', '--concurrency', '2'], { env });
    const job = {
      ...{ id: 'a', cwd: ownBox.home, secret_env: ['TOKEN', 'KEY'], max_retries: 2 },
      // The command writes the value to a file outside the home, which proves that it arrives.
      command: 'echo "$TOKEN $KEY" >>../told; echo done; seq 1 9000; exit 3',
      ...{ on_failure: 'true', stdin: 'x', split_output: true, backoff: 'fixed', retry_delay: 0 },
    };
    await ownBox.run(['enqueue', JSON.stringify(job)], { env });
    await untilEnded(ownBox, 'a');
    expect(lines(join(ownBox.directory, 'told'))).toEqual([`${SECRET} k`, `${SECRET} k`]);
    for (const args of [
      ['show', 'a'],
      ['list'],
      ['logs', 'a'],
      ['show', 'a', '--json'],
      ['list', '--json'],
    ]) {
      const { stdout, stderr } = await ownBox.run(args);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(await ownBox.json<object>(['show', 'a'])).toMatchObject({
      secret_env: ['TOKEN', 'KEY'],
      env: {},
    });
    expect(worker.output()).not.toContain(SECRET);
    expect(leaks(ownBox)).toEqual([]);

    // A value given with --env is stored, which proves that the search can find it.
    await ownBox.run(['enqueue', '--env', `TOKEN=${SECRET}`, '--delay', '1h', 'true']);
    expect(leaks(ownBox).length).toBeGreaterThan(0);
  }),
);

test(
  'a job whose worker lacks a secret fails with the name of the secret, and runs on a worker that has it',
  inSandbox(async (ownBox) => {
    const first = ownBox.start(['worker', 'start'], { env: { TOKEN: '' } });
    const more = [
      '--secret-env',
      'TOKEN,MISSING_ONE',
      '--secret-env',
      'MISSING_TWO',
      '-r',
      '2',
      '--backoff-base',
      '1000',
    ];
    await ownBox.run(['enqueue', '--id', 'a', ...more, 'echo "[$TOKEN]" $MISSING_ONE $MISSING_TWO']);
    expect(await untilState(ownBox, 'a', 'failed')).toMatchObject({
      ...{ attempts: 1, exit_code: null },
      last_error: "secret variable MISSING_ONE is not in the worker's environment",
    });
    first.child.kill('SIGTERM');
    await first.exit;
    ownBox.start(['worker', 'start'], { env: { TOKEN: '', MISSING_ONE: 'one', MISSING_TWO: 'two' } });
    await ownBox.run(['retry', 'a']);
    const { job, output } = await untilEnded(ownBox, 'a');
    expect(job).toMatchObject({ state: 'completed' });
    expect(output).toBe('[] one two\n');
  }),
);
