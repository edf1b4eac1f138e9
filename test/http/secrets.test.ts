/**
 * Tests that a client of the HTTP API never gets the value of a variable that looks secret. S7 is the number of this attack
 * in test/acceptance/attack-coverage.test.ts.
 */

import { expect } from 'bun:test';
import { MASK } from '../../src/core/jobs/command-text.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { serve } from '../support/http.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { addJobs, expectOk, expectRefused, TOMORROW } from './api/calls.ts';

const SECRET = 'hunter2-7f3a91';
const env = { DB_PASSWORD: SECRET, PATH: '/bin' };
const masked = { DB_PASSWORD: MASK, PATH: '/bin' };

test('S7: secret values are masked in every answer and kept in the store, and a mask is refused as a value', async (box) => {
  const site = await serve(box);
  const stream = await site.events(0);
  expect((await addJobs(site, { id: 'x', command: 'true', env, ...TOMORROW })).env).toEqual(masked);
  const [one] = await addJobs(site, [{ id: 'y', command: 'true', env, ...TOMORROW }]);
  expect(one.env).toEqual(masked);
  const schedule = { name: 'x', every: '1d', job: { command: 'true', env } };
  expect((await expectOk(site, 'POST', '/api/v1/schedules', schedule, 201)).job.env).toEqual(masked);
  expect((await expectOk(site, 'POST', '/api/v1/schedules/x/run', undefined, 201)).env).toMatchObject(masked);
  for (const verb of ['hold', 'release', 'cancel', 'retry'])
    expect((await expectOk(site, 'POST', `/api/v1/jobs/x/${verb}`)).env).toEqual(masked);
  expect((await expectOk(site, 'PATCH', '/api/v1/jobs/x', { priority: 1 })).env).toEqual(masked);
  expect((await expectOk(site, 'PATCH', '/api/v1/schedules/x', { paused: true })).job.env).toEqual(masked);
  for (const { method, path } of ROUTES) {
    if (method !== 'GET' || path.endsWith('/events')) continue;
    const { text } = await site.call('GET', path.replace(/\{\w+\}/, 'x'));
    expect({ path, leaks: text.includes(SECRET) }).toEqual({ path, leaks: false });
  }
  expect((await expectOk(site, 'GET', '/api/v1/jobs')).jobs).toHaveLength(3);
  expect(JSON.stringify(stream.seen)).not.toContain(SECRET);
  stream.close();

  const { id: _, ...again } = await expectOk(site, 'GET', '/api/v1/jobs/x');
  const duplicate = await expectRefused(site, ['POST', '/api/v1/jobs'], { body: again }, [
    400,
    'invalid-job',
  ]);
  expect(duplicate.json.detail).toContain('the value of DB_PASSWORD is •••');
  const body = { ...schedule, name: 'z', job: { command: 'true', env: masked } };
  await expectRefused(site, ['POST', '/api/v1/schedules'], { body }, [400, 'invalid-job']);
  expect((await expectOk(site, 'GET', '/api/v1/jobs')).jobs).toHaveLength(3);
  // The command line of the owner and the command of the job get the real value.
  expect(await box.json(['show', 'x'])).toMatchObject({ env });
  await addJobs(site, { id: 'w', command: 'echo "$DB_PASSWORD"', env: { DB_PASSWORD: SECRET } });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  expect((await box.run(['logs', 'w'])).stdout).toBe(`${SECRET}\n`);
});
