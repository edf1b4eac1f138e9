import { describe, expect } from 'bun:test';
import { WAITING_REASONS } from '../../src/core/jobs/waiting-reason.ts';
import { addEveryReason, WAITING_IDS } from '../support/every-reason.ts';
import { serve } from '../support/http.ts';
import { readOpenMetrics, sampleValue } from '../support/open-metrics.ts';
import { enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest, concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

interface JobReason {
  id: string;
  waiting_for: string | null;
}

async function linesOnTerminal(box: Sandbox, args: string[], columns: number): Promise<string[]> {
  const shown = onTerminal(box, args, 40, columns);
  await shown.closed;
  return shown.output().replaceAll('\r', '').split('\n');
}

/** What a list shows for each reason. For `scheduled` and `retrying`, it shows the time until the job is due. */
const CELLS: Record<string, RegExp> = {
  ...Object.fromEntries(
    WAITING_REASONS.map((reason) => [reason, new RegExp(`\\b${reason.replace('_', ' ')}\\b`)]),
  ),
  scheduled: /\bin (1h 5\dm|2h)\b/,
  retrying: /\bin (59m|1h)\b/,
};

/** The checks of the first test. In their names, "it" is the reason why a job waits. */
const CHECKS: Record<string, (box: Sandbox) => Promise<void>> = {
  'list shows it on a terminal of 80 and of 140 columns': async (box) => {
    for (const columns of [80, 140]) {
      const lines = await linesOnTerminal(box, ['list'], columns);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      for (const id of WAITING_IDS) {
        const row = lines.find((line) => line.startsWith(`${id} `))!;
        expect({ id, row: row.slice(id.length) }).toEqual({ id, row: expect.stringMatching(CELLS[id]!) });
      }
    }
  },

  'list prints it in the last column in a pipe': async (box) => {
    const { stdout } = await box.run(['list', '--header']);
    const [header, ...rows] = stdout.split('\n').slice(0, -1);
    expect(header).toBe('ID\tSTATE\tQUEUE\tPRIORITY\tATTEMPTS\tCREATED\tDUE\tCOMMAND\tWAITING FOR');
    for (const row of rows) {
      const cells = row.split('\t');
      expect(cells).toHaveLength(9);
      expect(cells[8]!).toBe(WAITING_IDS.includes(cells[0]!) ? cells[0]! : '');
    }
  },

  'JSON has it in every job object': async (box) => {
    for (const { id, waiting_for } of await box.json<JobReason[]>(['list']))
      expect({ id, waiting_for }).toEqual({ id, waiting_for: WAITING_IDS.includes(id) ? id : null });
    for (const id of WAITING_IDS) {
      expect(await box.json(['show', id])).toMatchObject({ waiting_for: id });
      expect(await box.json(['explain', id])).toMatchObject({ waiting_for: id });
    }
    expect(await box.json(['show', 'parent'])).toMatchObject({ waiting_for: null });
    const top = await box.json<{ waiting: JobReason[]; running: JobReason[]; failures: JobReason[] }>([
      'top',
    ]);
    for (const { id, waiting_for } of [...top.waiting, ...top.failures]) expect(waiting_for).toBe(id);
    for (const { waiting_for } of top.running) expect(waiting_for).toBeNull();
  },

  'top shows it': async (box) => {
    const lines = await linesOnTerminal(box, ['top', '--once'], 80);
    for (const id of WAITING_IDS) {
      const row = lines.find((line) => line.startsWith(`  ${id} `))!;
      expect({ id, row: row.slice(id.length + 2) }).toEqual({ id, row: expect.stringMatching(CELLS[id]!) });
    }
  },

  'list --waiting-for selects the jobs of one or several reasons': async (box) => {
    const found = async (...args: string[]): Promise<string[]> =>
      (await box.json<JobReason[]>(['list', ...args])).map((job) => job.id);
    for (const id of WAITING_IDS) expect(await found('--waiting-for', id)).toEqual([id]);
    expect(await found('--waiting-for', WAITING_REASONS.join())).toEqual([...WAITING_IDS]);
    expect(await found('--waiting-for', 'no-worker', '--waiting-for', 'ready')).toEqual([
      'no_worker',
      'ready',
    ]);
    expect(await found('--waiting-for', 'held,ready', '--queue', 'default')).toEqual(['held', 'ready']);
    expect(await found('--waiting-for', 'no_worker', '--queue', 'default')).toEqual([]);
    expect(await found('--waiting-for', 'retrying', '--state', 'pending')).toEqual([]);
    expect(await found('--waiting-for', 'held,blocked', '--search', 'block')).toEqual(['blocked']);
    const mistaken = await box.run(['list', '--state', 'no-worker']);
    expectRefusal(mistaken, 2, /'no-worker' is not a state but a reason why jobs wait/);
    expect(mistaken.stderr).toContain('use --waiting-for no_worker');
    const unknown = await box.run(['list', '--waiting-for', 'paused']);
    expectRefusal(unknown, 2, /--waiting-for: unknown reason 'paused'/);
  },

  'actions accept --waiting-for': async (box) => {
    const hold = ['hold', '--waiting-for', 'ready,no_worker'];
    expect(await box.json([...hold, '--dry-run'])).toMatchObject({ would_be_held: ['ready', 'no_worker'] });
    expectRefusal(await box.run(hold), 2, /confirmation required: hold 2 jobs \(ready, no_worker\)/);
  },

  'status counts by it, on a terminal, in a pipe and in JSON': async (box) => {
    const ones = Object.fromEntries(WAITING_REASONS.map((reason) => [reason, 1]));
    expect(await box.json(['status'])).toMatchObject({ waiting_for: ones });
    const { stdout } = await box.run(['status']);
    expect(stdout).toEndWith(WAITING_REASONS.map((reason) => `waiting_for:${reason}\t1\n`).join(''));
    const lines = await linesOnTerminal(box, ['status'], 80);
    for (const reason of WAITING_REASONS)
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${reason.replace('_', ' ')} +1$`)));
  },

  'the HTTP API shows it and filters by it': async (box) => {
    const { call } = await serve(box);
    const found = async (query: string): Promise<JobReason[]> =>
      (await call('GET', `/api/v1/jobs?${query}`)).json.jobs;
    for (const { id, waiting_for } of await found('limit=100'))
      expect({ id, waiting_for }).toEqual({ id, waiting_for: WAITING_IDS.includes(id) ? id : null });
    for (const id of WAITING_IDS) {
      const { json } = await call('GET', `/api/v1/jobs?waiting_for=${id}`);
      expect(json).toMatchObject({ jobs: [{ id }], next_cursor: null, count: { value: 1, capped: false } });
      expect((await call('GET', `/api/v1/jobs/${id}`)).json.waiting_for).toBe(id);
      expect((await call('GET', `/api/v1/jobs/${id}/explain`)).json.waiting_for).toBe(id);
    }
    const severalReasons = 'waiting_for=held,ready&waiting_for=no_worker';
    expect((await found(severalReasons)).map(({ id }) => id)).toEqual(['held', 'no_worker', 'ready']);
    const pagedIds: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: string = cursor === '' ? 'limit=2' : `limit=2&cursor=${cursor}`;
      const { json } = await call('GET', `/api/v1/jobs?waiting_for=${WAITING_REASONS.join()}&${page}`);
      pagedIds.push(...json.jobs.map((job: JobReason) => job.id));
      cursor = json.next_cursor;
    }
    expect(pagedIds).toEqual([...WAITING_IDS]);
    const unknown = await call('GET', '/api/v1/jobs?waiting_for=paused');
    expect({ status: unknown.status, detail: unknown.json.detail }).toEqual({
      ...{ status: 400, detail: expect.stringContaining("waiting_for: unknown reason 'paused'") },
    });
    const filter = { waiting_for: ['queue_paused', 'no_worker'] };
    const operation = await call('POST', '/api/v1/operations', {
      body: { action: 'edit', filter, changes: { priority: 1 } },
    });
    await until(
      async () => (await call('GET', `/api/v1/operations/${operation.json.id}`)).json.changed === 2,
      'two jobs were changed',
    );
  },

  'a running job is shown in its first attempt, with its run time so far': async (box) => {
    const lines = await linesOnTerminal(box, ['list', '--state', 'running'], 80);
    for (const id of ['parent', 'busy'])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${id} .* 1/3 `)));
    expect((await box.run(['list', '--state', 'running'])).stdout).toContain('\t1/3\t');
    const shown = await linesOnTerminal(box, ['show', 'parent'], 80);
    expect(shown).toContainEqual(expect.stringMatching(/^attempts +1 of 3$/));
    expect(shown).toContainEqual(
      expect.stringMatching(/^1 +(now|\d+s ago|1m \d+s ago) +[\d.]+m?s? .*running/),
    );
  },

  'a held job is not shown as due in the past': async (box) => {
    expect((await box.run(['show', 'held'])).stdout).not.toMatch(/^due\t/m);
    expect((await box.run(['show', 'scheduled'])).stdout).toMatch(/^due\t.*\(in /m);
  },

  'the metrics count by it': async (box) => {
    const families = readOpenMetrics((await box.run(['metrics'])).stdout);
    const value = (queue: string, reason: string) =>
      sampleValue(families, 'queuectl_waiting_jobs', { queue, reason });
    expect(value('gpu', 'no_worker')).toBe(1);
    expect(value('gpu', 'ready')).toBe(0);
    expect(value('default', 'held')).toBe(1);
    expect(value('full', 'at_limit')).toBe(1);
  },
};

describe('waiting_for', () => {
  sandboxTest('is shown by commands and the API, in a store in which every reason occurs', async (box) => {
    await addEveryReason(box);
    for (const check of Object.values(CHECKS)) await check(box);
  });

  test('is no_worker while all workers are stopping', async (box) => {
    await box.startWorkers();
    await enqueue(box, 'long', 'sleep 600');
    await untilState(box, 'long', 'processing');
    await enqueue(box, 'job', 'true');
    expect(await box.json(['show', 'job'])).toMatchObject({ waiting_for: 'ready' });
    box.start(['worker', 'stop']);
    await until(
      async () => (await box.json<JobReason>(['show', 'job'])).waiting_for === 'no_worker',
      'the job waits for a worker',
    );
    expect((await box.run(['explain', 'job'])).stdout).toStartWith('all workers are stopping; ');
  });

  test('is at_limit if max-concurrent-jobs is reached', async (box) => {
    await box.json(['config', 'set', 'max-concurrent-jobs', '1']);
    await box.startWorkers('--concurrency', '4');
    await enqueue(box, 'long', 'sleep 600');
    await untilState(box, 'long', 'processing');
    await enqueue(box, 'job', 'true', { queue: 'other' });
    expect(await box.json(['show', 'job'])).toMatchObject({ waiting_for: 'at_limit' });
    expect((await box.run(['explain', 'job'])).stdout).toStartWith('the limit set by max-concurrent-jobs');
  });
});
