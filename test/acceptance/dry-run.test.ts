import { expect } from 'bun:test';
import { startGatedJob } from '../support/gated-job.ts';
import { enqueue, type Result, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const IDS = ['waits', 'held', 'failed', 'once', 'runs', 'done', 'dead', 'dead-once', 'cancelled'];

/** Fills a store with one job of each state, and the at-most-once jobs that some actions skip. */
async function addEveryState(box: Sandbox): Promise<void> {
  await box.startWorkers('--concurrency', '3');
  await startGatedJob(box, 'runs');
  await enqueue(box, 'done', 'true');
  await enqueue(box, 'dead', 'false', { max_retries: 1 });
  await enqueue(box, 'dead-once', 'false', { at_most_once: true });
  await enqueue(box, 'failed', 'false', { backoff: 'fixed', retry_delay_ms: 3_600_000 });
  await enqueue(box, 'waits', 'true', { delay: 7200 });
  await enqueue(box, 'held', 'true', { hold: true });
  await enqueue(box, 'once', 'true', { at_most_once: true, delay: 7200 });
  await enqueue(box, 'cancelled', 'true', { delay: 7200 });
  await box.json(['cancel', 'cancelled']);
  for (const [id, state] of [
    ['done', 'completed'],
    ['dead', 'dead'],
    ['dead-once', 'dead'],
    ['failed', 'failed'],
  ] as const)
    await untilState(box, id, state);
  // A job that is retried then stays pending.
  await box.json(['queue', 'pause', 'default']);
}

/** Returns what a command reports. A dry run and the real command have to return the same. */
function reportOf({ code, stdout, stderr }: Result, participle: string): Record<string, unknown> {
  const {
    [`would_be_${participle}`]: expected,
    [participle]: changed,
    unchanged,
  } = JSON.parse(stdout || '{}');
  const message = stderr.replace('nothing would be', 'nothing was').replaceAll(/^\{.*"message":"/gm, '');
  return { code, changed: [...(expected ?? changed ?? [])].sort(), unchanged, message };
}

const ACTIONS: [string[], string][] = [
  [['edit', '--priority', '3'], 'changed'],
  [['edit', '--max-retries', '4'], 'changed'],
  [['hold'], 'held'],
  [['release'], 'released'],
  [['suspend'], 'suspended'],
  [['continue'], 'continued'],
  [['retry'], 'retried'],
  [['dlq', 'retry'], 'retried'],
  [['dlq', 'purge'], 'purged'],
  [['delete'], 'deleted'],
  [['cancel'], 'cancelled'],
];

for (const [action, participle] of ACTIONS)
  test(`a dry run of '${action.join(' ')}' names the jobs that the command changes, and has its exit code`, async (box) => {
    await addEveryState(box);
    const both = async (...selection: string[]): Promise<void> => {
      const args = [...action, ...selection, '--json'];
      const jobs = await box.run(['list', '--json']);
      const dry = await box.run([...args, '--dry-run']);
      expect(await box.run(['list', '--json'])).toEqual(jobs);
      const real = await box.run(args);
      const { unchanged, ...report } = reportOf(real, participle);
      expect({ selection, ...reportOf(dry, participle) }).toMatchObject({ selection, ...report });
      // The commands of the dead letter queue do not print the unchanged jobs.
      if (unchanged !== undefined) expect(reportOf(dry, participle).unchanged).toEqual(unchanged);
    };
    const isDlq = action[0] === 'dlq';
    await both(...IDS.filter((id) => !isDlq || id === 'dead'));
    await both(...(isDlq ? ['--all'] : ['--state', 'all']), ...(action[1] === 'retry' ? [] : ['--yes']));
    for (const id of ['held', 'runs', 'done', 'dead-once']) await both(id);
  });

test('a dry run of a retry treats two dead jobs with the same unique key as the retry does', async (box) => {
  for (const id of ['first', 'second']) {
    await enqueue(box, id, 'true', { unique_key: 'key', hold: true });
    await box.json(['cancel', id]);
  }
  const dry = await box.run(['retry', '--state', 'all', '--yes', '--json', '--dry-run']);
  expect(reportOf(dry, 'retried')).toMatchObject({ code: 7, changed: ['first'], unchanged: ['second'] });
  const real = await box.run(['retry', '--state', 'all', '--yes', '--json']);
  expect(reportOf(real, 'retried')).toEqual(reportOf(dry, 'retried'));
});

test('the question of a bulk action counts the jobs that would change, and no question is asked if none would', async (box) => {
  for (const id of ['a', 'b', 'c', 'd'])
    await enqueue(box, id, 'true', { queue: id === 'd' ? 'old' : 'new' });
  await box.json(['cancel', 'c', 'd']);
  await enqueue(box, 'e', 'true', { queue: 'old' });
  await box.json(['cancel', 'e']);
  const asked = onTerminal(box, ['cancel', '--queue', 'new'], 24, 120);
  await until(
    () => asked.output().includes('1 job had already finished; cancel 2 jobs (a, b)? [y/N]'),
    'the question',
  );
  asked.type('y\r');
  expect(await asked.closed).toBe(7);
  expect(asked.output()).toContain('cancelled 2 jobs; 1 job had already finished');
  const none = await box.run(['cancel', '--queue', 'old']);
  expect(none).toMatchObject({ code: 4 });
  expect(none.stderr).toContain('nothing was cancelled: 2 jobs had already finished');
  const table = onTerminal(box, ['retry', '--queue', 'new', '--dry-run'], 24, 120);
  expect(await table.closed).toBe(0);
  expect(table.output()).toContain('3 jobs would be retried');
});
