import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClock, withClockOffset } from '../faults/f09-clock.ts';
import { connectTo } from '../support/http.ts';
import { inSandbox, type RunOptions } from '../support/queuectl.ts';
import { onTestServer } from '../support/sandbox-store.ts';

const MINUTE_MS = 60_000;
/** A minute that no interval of these tests divides, so that a time of the moved clock does not look right by accident. */
const AHEAD_MS = 61 * MINUTE_MS;

/** Enqueues with relative times, and filters by age. */
const LIBRARY_PROGRAM = `
import { openQueue } from 'queuectl';
const queue = await openQueue();
const given = [{ command: 'true', delay: '2m' }, { command: 'true', run_at: '+2m' }];
const jobs = await queue.enqueue(given);
const old = await queue.list({ older_than: '30m' });
const schedule = await queue.schedules.add({ name: 'library', every: '7m', job: 'true' });
console.log(JSON.stringify({
  delays: jobs.map(({ run_at, created_at }) => Date.parse(run_at) - Date.parse(created_at)),
  old: old.length,
  untilRun: Math.ceil((Date.parse(schedule.next_run_at) - Date.parse(schedule.created_at)) / 60_000),
}));
await queue.close();
`;

interface TimedJob {
  id: string;
  created_at: string;
  run_at: string | null;
}

/** Returns the local time of day after these minutes, such as 23:30, and the moment at which it is. */
function clockTime(minutes: number): { text: string; at: number } {
  const at = Math.floor(Date.now() / MINUTE_MS + minutes) * MINUTE_MS;
  return { text: new Date(at).toISOString().slice(11, 16), at };
}

test.each([
  ['ahead', AHEAD_MS],
  ['behind', -AHEAD_MS],
])('relative times count by the clock of the server if the clock of the client is an hour %s', (_, byMs) =>
  inSandbox(
    async (box) => {
      const library = buildClock(box.directory);
      if (library === null) return;
      const env = { ...withClockOffset(library, join(box.directory, 'offset'), byMs), TZ: 'UTC' };
      const run = async (args: string[], options: RunOptions = {}): Promise<string> => {
        const { code, stdout, stderr } = await box.run(args, { ...options, env });
        if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`);
        return stdout;
      };
      const read = async <T>(...args: string[]): Promise<T> => JSON.parse(await run([...args, '--json']));
      const list = (...args: string[]) => read<TimedJob[]>('list', ...args);

      const file = join(box.directory, 'jobs');
      writeFileSync(file, '{"id": "in-file", "command": "true", "run_at": "+2m"}\n');
      const half = clockTime(30);
      const printed = { id: 'printed', command: 'true', state: 'failed', next_run_at: half.at };
      await run(['enqueue', '--id', 'flag', '--delay', '2m', 'true']);
      await run(['enqueue', '--id', 'time', '--run-at', '+2m', 'true']);
      await run(['enqueue', '--id', 'clock', '--run-at', half.text, 'true']);
      await run(['enqueue', '--id', 'absolute', '--run-at', '2100-01-31T09:00Z', 'true']);
      await run(['enqueue', '{"id": "json", "command": "true", "delay": 120}']);
      await run(['enqueue', JSON.stringify(printed)]);
      await run(['enqueue', '--file', file]);
      await run(
        ['enqueue', '--file', '-', '--template', 'echo {}', '--delay', '2m', '--tag', 'from=template'],
        {
          stdin: 'a\n',
        },
      );
      await run(['enqueue', '--stream', '--file', '-', '--delay', '2m', '--tag', 'from=stream'], {
        stdin: '{"id": "streamed", "command": "true"}\n',
      });
      const jobs = await list();
      const delays = jobs.map(({ id, run_at, created_at }) => [
        id,
        Date.parse(run_at!) - Date.parse(created_at),
      ]);
      const byId = new Map(jobs.map((job) => [job.id, job]));
      for (const id of ['clock', 'printed']) expect(Date.parse(byId.get(id)!.run_at!)).toBe(half.at);
      expect(byId.get('absolute')!.run_at).toBe('2100-01-31T09:00:00.000Z');
      const others = delays.filter(([id]) => !['clock', 'printed', 'absolute'].includes(id as string));
      expect(others.map(([, ms]) => ms)).toEqual(Array(6).fill(2 * MINUTE_MS));

      // Nothing is half an hour old, and everything is at least 0 s old.
      expect(await list('--older-than', '30m')).toEqual([]);
      expect(await list('--older-than', '0s')).toHaveLength(jobs.length);
      await run(['delete', '--older-than', '30m', '--yes']);
      expect(await list()).toHaveLength(jobs.length);
      expect((await run(['events', '--since', '1m', '--kind', 'enqueued'])).trim().split('\n')).toHaveLength(
        jobs.length,
      );
      await run(['edit', 'flag', '--run-at', '+10m']);
      const edited = Date.parse((await read<TimedJob>('show', 'flag')).run_at!) - Date.now();
      expect(edited).toBeGreaterThan(5 * MINUTE_MS);
      expect(edited).toBeLessThanOrEqual(10 * MINUTE_MS);
      const added = await read<{ next_run_at: string }>('schedule', 'add', 's', '--every', '7m', 'true');
      const untilRun = Date.parse(added.next_run_at) - Date.now();
      expect(untilRun).toBeGreaterThan(6 * MINUTE_MS);
      expect(untilRun).toBeLessThanOrEqual(7 * MINUTE_MS);

      const { stdout } = spawnSync(process.execPath, ['--no-install', '--eval', LIBRARY_PROGRAM], {
        env: { ...process.env, ...box.environment, ...env },
        encoding: 'utf8',
      });
      expect(JSON.parse(stdout)).toEqual({ delays: Array(2).fill(2 * MINUTE_MS), old: 0, untilRun: 7 });

      const site = await connectTo(box.start(['serve', '--port', '0'], { env }));
      const { json: posted } = await site.call('POST', '/api/v1/jobs', {
        body: { command: 'true', delay: 120 },
      });
      expect(Date.parse(posted.run_at) - Date.parse(posted.created_at)).toBe(2 * MINUTE_MS);
      const old = await site.call('GET', '/api/v1/jobs?older-than=30m');
      expect(old.json.jobs).toEqual([]);
    },
    undefined,
    onTestServer,
  )(),
);
