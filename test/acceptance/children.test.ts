import { expect, test } from 'bun:test';
import { serve } from '../support/http.ts';
import { enqueue, inSandbox, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { onTerminal } from '../support/terminal.ts';

/** Adds the chain a, b, c, a job `after` that runs after any end of a, and a job of its own. */
async function family(box: Sandbox): Promise<void> {
  await enqueue(box, 'a', 'true', { queue: 'mail' });
  await enqueue(box, 'b', 'true', { depends_on: ['a'] });
  await enqueue(box, 'c', 'true', { depends_on: ['b'] });
  await enqueue(box, 'after', 'true', { depends_on: [{ id: 'a', on: 'any' }] });
  await enqueue(box, 'alone', 'true', { queue: 'mail' });
}

async function screenOf(box: Sandbox, ...args: string[]): Promise<string> {
  const shown = onTerminal(box, args, 40, 120);
  await shown.closed;
  return shown.output().replaceAll('\r', '');
}

test.concurrent(
  'a parent shows its children, in text, JSON and over HTTP',
  inSandbox(async (box) => {
    await family(box);
    expect((await box.run(['show', 'a'])).stdout).toMatch(
      /^children\tb \(pending\), after \(any, pending\)$/m,
    );
    expect((await box.run(['show', 'c'])).stdout).not.toContain('children');
    const children = [
      { id: 'b', on: 'ok', state: 'pending', waiting: true },
      { id: 'after', on: 'any', state: 'pending', waiting: true },
    ];
    const shown = await box.json<{ id: string }>(['show', 'a']);
    expect(shown).toMatchObject({ children });
    expect(await box.json(['show', 'c'])).toMatchObject({ children: [] });
    // A printed job can still be enqueued again.
    const again = await box.run(['enqueue', JSON.stringify({ ...shown, id: 'again' })]);
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
    const { call } = await serve(box);
    expect((await call('GET', '/api/v1/jobs/a/children')).json).toEqual({
      ...{ children, total: 2, cancelled_with_it: 2, cancelled_if_deleted: 3 },
    });
    expect((await call('GET', '/api/v1/jobs/nobody/children')).status).toBe(404);
  }),
);

test.concurrent(
  'cancelling a parent tells before and after which jobs are cancelled with it',
  inSandbox(async (box) => {
    await family(box);
    expect(await screenOf(box, 'cancel', 'a', '--dry-run')).toContain(
      '1 job would be cancelled, and 2 jobs that depend on it would be cancelled: b c\n',
    );
    expect(await box.json(['cancel', 'a', '--dry-run'])).toEqual({
      ...{ would_be_cancelled: ['a'], unchanged: [], would_also_be_cancelled: ['b', 'c'] },
    });
    const piped = await box.run(['cancel', 'a', '--dry-run']);
    expect(piped).toMatchObject({ stdout: 'a\n', code: 0 });
    expect(piped.stderr).toContain('this would also cancel 2 dependent jobs: b c');
    const asked = await box.run(['cancel', '--queue', 'mail']);
    expectRefusal(asked, 2, /cancel 2 jobs \(a, alone\) and 2 jobs that depend on them$/);
    expect(await screenOf(box, 'cancel', 'a')).toBe('cancelled 1 job and 2 jobs that depended on it: b c\n');
    for (const id of ['a', 'b', 'c']) await untilState(box, id, 'cancelled');
    expect(await box.json(['show', 'after'])).toMatchObject({ state: 'pending' });
    expect(await box.json(['cancel', 'alone'])).toEqual({ cancelled: ['alone'], unchanged: [] });
  }),
);

test.concurrent(
  'deleting a parent tells before and after which jobs are cancelled',
  inSandbox(async (box) => {
    await family(box);
    expect(await screenOf(box, 'delete', 'b', '--dry-run')).toContain(
      '1 job would be deleted, and 1 job that depends on it would be cancelled: c\n',
    );
    const asked = await box.run(['delete', '--queue', 'mail']);
    expectRefusal(asked, 2, /delete 2 jobs \(a, alone\) and cancel 3 jobs that depend on them$/);
    expect(await screenOf(box, 'delete', 'b')).toBe(
      'deleted 1 job and cancelled 1 job that depended on it: c\n',
    );
    expect(await box.json(['delete', 'a'])).toEqual({
      ...{ deleted: ['a'], unchanged: [], also_cancelled: ['after'] },
    });
    expect(await box.json(['show', 'after'])).toMatchObject({ state: 'cancelled' });
    // Jobs that are selected themselves are not told as dependents.
    await enqueue(box, 'd', 'true');
    await enqueue(box, 'e', 'true', { depends_on: ['d'] });
    expect(await box.json(['delete', 'd', 'e'])).toEqual({ deleted: ['d', 'e'], unchanged: [] });
  }),
);

test.concurrent(
  'a running parent cancels its children when it is stopped, and many jobs are told right',
  inSandbox(async (box) => {
    await box.startWorkers();
    await enqueue(box, 'runs', 'sleep 600');
    await untilState(box, 'runs', 'processing');
    await enqueue(box, 'child', 'true', { depends_on: ['runs'] });
    expect(await box.json(['cancel', 'runs'])).toEqual({
      ...{ cancelled: ['runs'], unchanged: [], also_cancelled: ['child'] },
    });
    // The children are in another batch than their parent. All of them were named, so none had already finished.
    const jobs = Array.from({ length: 1200 }, (_, i) => ({
      ...{ id: `j${i}`, command: 'true', queue: 'gpu', depends_on: i === 0 ? [] : ['j0'], delay: 3600 },
    }));
    const file = await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
    expect(file.code).toBe(0);
    const { code, stdout } = await box.run(['cancel', '--queue', 'gpu', '--yes', '--json']);
    const answer = JSON.parse(stdout);
    expect({ code, cancelled: answer.cancelled.length, unchanged: answer.unchanged }).toEqual({
      ...{ code: 0, cancelled: 1200, unchanged: [] },
    });
  }),
);
