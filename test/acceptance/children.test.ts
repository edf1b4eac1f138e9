import { expect } from 'bun:test';
import { serve } from '../support/http.ts';
import { enqueue, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

/** Adds the chain a, b, c, the job `after` that runs however a ends, and the independent job `alone`. */
async function addFamily(box: Sandbox): Promise<void> {
  await enqueue(box, 'a', 'true', { queue: 'mail' });
  await enqueue(box, 'b', 'true', { depends_on: ['a'] });
  await enqueue(box, 'c', 'true', { depends_on: ['b'] });
  await enqueue(box, 'after', 'true', { depends_on: [{ id: 'a', on: 'any' }] });
  await enqueue(box, 'alone', 'true', { queue: 'mail' });
}

async function terminalOutput(box: Sandbox, ...args: string[]): Promise<string> {
  const terminal = onTerminal(box, args, 40, 120);
  await terminal.closed;
  return terminal.output().replaceAll('\r', '');
}

test('the children of a job are shown as text, as JSON and over HTTP', async (box) => {
  await addFamily(box);
  expect((await box.run(['show', 'a'])).stdout).toMatch(/^children\tb \(pending\), after \(any, pending\)$/m);
  expect((await box.run(['show', 'c'])).stdout).not.toContain('children');
  const children = [
    { id: 'b', on: 'ok', state: 'pending', waiting: true },
    { id: 'after', on: 'any', state: 'pending', waiting: true },
  ];
  const shown = await box.json<{ id: string }>(['show', 'a']);
  expect(shown).toMatchObject({ children });
  expect(await box.json(['show', 'c'])).toMatchObject({ children: [] });
  // The printed job can be enqueued although it contains children.
  const again = await box.run(['enqueue', JSON.stringify({ ...shown, id: 'again' })]);
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
  const { call } = await serve(box);
  expect((await call('GET', '/api/v1/jobs/a/children')).json).toEqual({
    ...{ children, total: 2, cancelled_with_it: 2, cancelled_if_deleted: 3 },
  });
  expect((await call('GET', '/api/v1/jobs/nobody/children')).status).toBe(404);
});

test('show lists the first 20 of many children, and the API the first 100 with counts up to 1,000', async (box) => {
  await enqueue(box, 'parent', 'true');
  const jobs = Array.from({ length: 1200 }, (_, i) => ({
    ...{ id: `j${i}`, command: 'true', depends_on: ['parent'] },
  }));
  const added = await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  expect(added.code).toBe(0);
  expect((await box.run(['show', 'parent'])).stdout).toMatch(
    /^children\tj0 \(pending\), .*, j19 \(pending\) and 1,?180 more$/m,
  );
  expect(await box.json(['show', 'parent'])).toMatchObject({ children: { length: 1200 } });
  const { call } = await serve(box);
  const answer = (await call('GET', '/api/v1/jobs/parent/children')).json;
  expect(answer).toMatchObject({
    ...{ total: 1000, cancelled_with_it: 1000, cancelled_if_deleted: 1000 },
  });
  expect(answer.children.map((child: { id: string }) => child.id)).toEqual(
    jobs.slice(0, 100).map((job) => job.id),
  );
});

test('cancel lists the dependent jobs that it would cancel, and those that it has cancelled', async (box) => {
  await addFamily(box);
  expect(await terminalOutput(box, 'cancel', 'a', '--dry-run')).toContain(
    '1 job would be cancelled, and 2 jobs that depend on it would be cancelled: b c\n',
  );
  expect(await box.json(['cancel', 'a', '--dry-run'])).toEqual({
    ...{ would_be_cancelled: ['a'], unchanged: [], would_also_be_cancelled: ['b', 'c'] },
  });
  const piped = await box.run(['cancel', 'a', '--dry-run']);
  expect(piped).toMatchObject({ stdout: 'a\n', code: 0 });
  expect(piped.stderr).toContain('this would also cancel 2 dependent jobs: b c');
  const unconfirmed = await box.run(['cancel', '--queue', 'mail']);
  expectRefusal(unconfirmed, 2, /cancel 2 jobs \(a, alone\) and 2 jobs that depend on them$/);
  expect(await terminalOutput(box, 'cancel', 'a')).toBe(
    'cancelled 1 job and 2 jobs that depended on it: b c\n',
  );
  for (const id of ['a', 'b', 'c']) await untilState(box, id, 'cancelled');
  expect(await box.json(['show', 'after'])).toMatchObject({ state: 'pending' });
  expect(await box.json(['cancel', 'alone'])).toEqual({ cancelled: ['alone'], unchanged: [] });
});

test('delete lists the dependent jobs that it would cancel, and those that it has cancelled', async (box) => {
  await addFamily(box);
  expect(await terminalOutput(box, 'delete', 'b', '--dry-run')).toContain(
    '1 job would be deleted, and 1 job that depends on it would be cancelled: c\n',
  );
  const unconfirmed = await box.run(['delete', '--queue', 'mail']);
  expectRefusal(unconfirmed, 2, /delete 2 jobs \(a, alone\) and cancel 3 jobs that depend on them$/);
  expect(await terminalOutput(box, 'delete', 'b')).toBe(
    'deleted 1 job and cancelled 1 job that depended on it: c\n',
  );
  expect(await box.json(['delete', 'a'])).toEqual({
    ...{ deleted: ['a'], unchanged: [], also_cancelled: ['after'] },
  });
  expect(await box.json(['show', 'after'])).toMatchObject({ state: 'cancelled' });
  // A selected job is not listed as a dependent of another one.
  await enqueue(box, 'd', 'true');
  await enqueue(box, 'e', 'true', { depends_on: ['d'] });
  expect(await box.json(['delete', 'd', 'e'])).toEqual({ deleted: ['d', 'e'], unchanged: [] });
});

test('cancelling a running parent cancels its child', async (box) => {
  await box.startWorkers();
  await enqueue(box, 'runs', 'sleep 600');
  await untilState(box, 'runs', 'processing');
  await enqueue(box, 'child', 'true', { depends_on: ['runs'] });
  expect(await box.json(['cancel', 'runs'])).toEqual({
    ...{ cancelled: ['runs'], unchanged: [], also_cancelled: ['child'] },
  });
  // The child was cancelled by the first cancel, so the second one does not list it.
  expect((await box.run(['retry', 'runs'])).code).toBe(0);
  await untilState(box, 'runs', 'processing');
  expect(await box.json(['cancel', 'runs', '--dry-run'])).toEqual({
    ...{ would_be_cancelled: ['runs'], unchanged: [] },
  });
  expect(await box.json(['cancel', 'runs'])).toEqual({ cancelled: ['runs'], unchanged: [] });
});

test('a parent and its 1,199 children are all listed as cancelled if all of them are selected', async (box) => {
  // Jobs are cancelled in batches. The first contains the parent, so its children are cancelled before their batches.
  const jobs = Array.from({ length: 1200 }, (_, i) => ({
    ...{ id: `j${i}`, command: 'true', queue: 'gpu', depends_on: i === 0 ? [] : ['j0'], delay: 3600 },
  }));
  const added = await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  expect(added.code).toBe(0);
  const { code, stdout } = await box.run(['cancel', '--queue', 'gpu', '--yes', '--json']);
  const answer = JSON.parse(stdout);
  expect({ code, cancelled: answer.cancelled.length, unchanged: answer.unchanged }).toEqual({
    ...{ code: 0, cancelled: 1200, unchanged: [] },
  });
});
