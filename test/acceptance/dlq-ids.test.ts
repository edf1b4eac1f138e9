import { expect } from 'bun:test';
import { configure, enqueue, type JobJson, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** Adds the dead jobs 'report-1', 'report-2' and 'other', and then the delayed job 'later'. */
async function addDeadJobs(box: Sandbox): Promise<void> {
  await configure(box, { 'max-retries': '1' });
  for (const id of ['report-1', 'report-2', 'other']) await enqueue(box, id, 'exit 1');
  await box.run(['worker', 'start', '--drain']);
  await enqueue(box, 'later', 'true', { delay: 3600 });
}
const deadIds = async (box: Sandbox) => (await box.json<JobJson[]>(['dlq', 'list'])).map((job) => job.id);

test('dlq show, retry and purge accept the prefix of an id', async (box) => {
  await addDeadJobs(box);
  expect(await box.json<JobJson>(['dlq', 'show', 'oth'])).toMatchObject({ id: 'other' });
  expect((await box.run(['dlq', 'retry', 'oth', 'other'])).stdout).toContain('other');
  await untilState(box, 'other', 'pending');
  expect((await box.run(['dlq', 'purge', 'report-1'])).code).toBe(0);
  // Only report-2 has this prefix now.
  expect((await box.run(['dlq', 'purge', 'report'])).code).toBe(0);
  expect(await deadIds(box)).toEqual([]);
});

test('dlq commands take @last for the job that was enqueued last, and refuse it unless that job is dead', async (box) => {
  await addDeadJobs(box);
  for (const verb of ['show', 'retry', 'purge'])
    expectRefusal(await box.run(['dlq', verb, '@last']), 4, /'later' is pending, not dead/);
  await box.run(['delete', 'later']);
  expect(await box.json<JobJson>(['dlq', 'show', '@last'])).toMatchObject({ id: 'other' });
  expect((await box.run(['dlq', 'retry', '@last'])).code).toBe(0);
  expect(await deadIds(box)).toEqual(['report-2', 'report-1']);
  await box.run(['delete', 'other']);
  expect((await box.run(['dlq', 'purge', '@last'])).code).toBe(0);
  expect(await deadIds(box)).toEqual(['report-1']);
});

test('an ambiguous or unknown id prefix, or one of a job that is not dead, is refused and changes nothing', async (box) => {
  await addDeadJobs(box);
  for (const verb of ['show', 'retry', 'purge']) {
    expectRefusal(
      await box.run(['dlq', verb, 'report']),
      2,
      /several ids start with 'report': report-1, report-2/,
    );
    expectRefusal(await box.run(['dlq', verb, 'nobody']), 3, /'nobody'/);
  }
  for (const verb of ['retry', 'purge'])
    expectRefusal(await box.run(['dlq', verb, 'report-1', 'lat']), 4, /'later' is pending/);
  expect(await deadIds(box)).toEqual(['other', 'report-2', 'report-1']);
});
