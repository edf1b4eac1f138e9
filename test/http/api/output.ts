import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from '../../support/http.ts';
import { until } from '../../support/queuectl.ts';
import { type Api, addJobs, expectOk, expectRefused, pathOfJob, untilJob } from './calls.ts';

/** The output of the job 'o-long' is shorter than this limit, and that of 'o-cut' is longer, so it is trimmed. */
export const OUTPUT_LIMIT_BYTES = 200 * 1024;

interface OutputRange {
  text: string;
  from: number;
  next: number;
  size: number;
  over: boolean;
  truncated: boolean;
  attempt: number;
}

async function read(site: Site, id: string, query = ''): Promise<OutputRange> {
  const { status, headers, text } = await site.call('GET', `${pathOfJob(id)}/output?${query}`);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(headers.get('content-disposition')).toStartWith('attachment');
  const number = (name: string): number => Number(headers.get(`queuectl-${name}`));
  const flag = (name: string): boolean => headers.get(`queuectl-${name}`) === 'true';
  return {
    ...{ text, from: number('from'), next: number('next'), size: number('size'), attempt: number('attempt') },
    ...{ over: flag('over'), truncated: flag('truncated') },
  };
}

/** Reads the output in pieces until its end, as a follower does. */
async function readWhole(site: Site, id: string, limit: number, query = ''): Promise<string> {
  let text = '';
  let from = 0;
  await until(async () => {
    const part = await read(site, id, `from=${from}&limit=${limit}${query}`);
    expect(part.from).toBe(from);
    text += part.text;
    from = part.next;
    return part.over && part.next >= part.size;
  }, `the output of ${id} has ended`);
  return text;
}

export function testOutput(api: () => Api): void {
  test('a job that has not run has no output', async () => {
    const { site } = api();
    await addJobs(site, { id: 'o-none', command: 'true', delay: '1d' });
    expect(await read(site, 'o-none')).toMatchObject({ text: '', size: 0, over: false, attempt: 0 });
    await expectRefused(site, ['GET', `${pathOfJob('o-none')}/output?attempt=1`], {}, [
      404,
      'attempt-not-found',
    ]);
    await expectRefused(site, ['GET', `${pathOfJob('nobody')}/output`], {}, [404, 'job-not-found']);
    for (const query of ['from=x', 'limit=0', 'limit=4194305', 'attempt=0', 'stream=both'])
      await expectRefused(site, ['GET', `${pathOfJob('o-none')}/output?${query}`], {}, [
        400,
        'invalid-value',
      ]);
  });

  test('short output is kept in the store and read by ranges', async () => {
    const { site } = api();
    await addJobs(site, { id: 'o-short', command: 'printf 0123456789' });
    await untilJob(site, 'o-short', 'completed');
    expect(await read(site, 'o-short')).toEqual({
      ...{ text: '0123456789', from: 0, next: 10, size: 10, over: true, truncated: false, attempt: 1 },
    });
    expect(await read(site, 'o-short', 'from=3&limit=4')).toMatchObject({ text: '3456', from: 3, next: 7 });
    expect(await read(site, 'o-short', 'from=-3')).toMatchObject({ text: '789', from: 7, next: 10 });
    expect(await read(site, 'o-short', 'from=99')).toMatchObject({ text: '', from: 10, next: 10 });
    await expectRefused(site, ['GET', `${pathOfJob('o-short')}/output?stream=stderr`], {}, [
      409,
      'wrong-state',
    ]);
  });

  test('the output of a running job is followed to its end without a gap', async () => {
    const { site, box } = api();
    const go = join(box.directory, 'o-go');
    const command = `echo begun; until test -e '${go}'; do sleep 0.02; done; seq 1 200`;
    await addJobs(site, { id: 'o-run', command });
    await until(async () => (await read(site, 'o-run')).text === 'begun\n', 'it writes');
    expect(await read(site, 'o-run')).toMatchObject({ over: false, next: 6 });
    const following = readWhole(site, 'o-run', 64);
    writeFileSync(go, '');
    const lines = Array.from({ length: 200 }, (_, i) => i + 1).join('\n');
    expect(await following).toBe(`begun\n${lines}\n`);
  });

  test('long output is read from its file, and the gap in trimmed output is marked', async () => {
    const { site } = api();
    await addJobs(site, { id: 'o-long', command: 'seq 1 20000' });
    await untilJob(site, 'o-long', 'completed');
    const text = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('');
    expect(await readWhole(site, 'o-long', 10_000)).toBe(text);
    expect((await read(site, 'o-long', 'from=-6')).text).toBe('20000\n');

    await addJobs(site, { id: 'o-cut', command: 'seq 1 100000' });
    await untilJob(site, 'o-cut', 'completed');
    expect(await read(site, 'o-cut')).toMatchObject({ truncated: true, over: true });
    const cut = await readWhole(site, 'o-cut', 50_000);
    expect(cut.length).toBeLessThanOrEqual(OUTPUT_LIMIT_BYTES);
    expect(cut).toStartWith('1\n2\n3\n');
    expect(cut).toEndWith('99999\n100000\n');
    expect(cut).toContain('bytes of output dropped here');
  });

  test('split output is read by stream, short or long', async () => {
    const { site } = api();
    for (const [id, lineCount] of [
      ['o-split', 3],
      ['o-wide', 9000],
    ] as const) {
      await addJobs(site, {
        id,
        command: `seq 1 ${lineCount}; seq 1 ${lineCount} | sed s/^/e/ >&2`,
        split_output: true,
      });
      await untilJob(site, id, 'completed');
      const numbers = Array.from({ length: lineCount }, (_, i) => i + 1);
      expect(await readWhole(site, id, 7000)).toBe(numbers.map((n) => `${n}\n`).join(''));
      expect(await readWhole(site, id, 7000, '&stream=stdout')).toBe(numbers.map((n) => `${n}\n`).join(''));
      expect(await readWhole(site, id, 7000, '&stream=stderr')).toBe(numbers.map((n) => `e${n}\n`).join(''));
    }
  });

  test('each attempt has its own output', async () => {
    const { site } = api();
    await addJobs(site, {
      id: 'o-two',
      command: 'echo $QUEUECTL_ATTEMPT; exit 1',
      max_retries: 2,
      backoff: 'fixed',
      retry_delay: 0,
    });
    await untilJob(site, 'o-two', 'dead');
    const attempts = await expectOk(site, 'GET', `${pathOfJob('o-two')}/attempts`);
    expect(attempts).toHaveLength(2);
    for (const { attempt } of attempts)
      expect((await read(site, 'o-two', `attempt=${attempt}`)).attempt).toBe(attempt);
    expect((await read(site, 'o-two', 'attempt=1')).text).not.toBe((await read(site, 'o-two')).text);
  });

  test('output with markup is downloaded as text and never shown as a page', async () => {
    const { site } = api();
    const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>';
    await addJobs(site, { id: 'o-evil', command: `printf '%s' '${evil}'`, name: evil, tags: { a: evil } });
    await untilJob(site, 'o-evil', 'completed');
    const { headers, text } = await site.call('GET', `${pathOfJob('o-evil')}/output`);
    expect(text).toBe(evil);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="output.log"');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const shown = await site.call('GET', pathOfJob('o-evil'));
    expect(shown.json.name).toBe(evil);
    expect(shown.headers.get('content-type')).toBe('application/json');
  });
}
