import { getSetting, listSettings, setSetting, unsetSetting } from '../../actions/config.ts';
import { diagnose } from '../../actions/doctor.ts';
import { metricsSnapshot, stats, statsSeries } from '../../actions/stats.ts';
import { PERIODS, type Period } from '../../core/rules/figures.ts';
import { masked } from '../../core/text/mask.ts';
import { VERSION } from '../../core/version.ts';
import { boolean, integer, listOf, oneOf, record, ref, text } from '../../core/wire/schema.ts';
import { openMetrics } from '../../observe/metrics.ts';
import { IDLE_MS, ROLES } from '../access.ts';
import { refuse } from '../problem.ts';
import { booleanOf, readFields, readText } from '../read-input.ts';
import { del, get, json, post, put, type Route } from '../route.ts';
import { INPUTS } from '../schemas.ts';

const TYPE = 'application/openmetrics-text';
const health = ref('Health');
const settingAnswer = { description: 'the setting', schema: ref('Setting') };

export const SERVER_ROUTES: Route[] = [
  get('/api/v1/stats', {
    summary: 'Show job counts, success rate, wait and run times, and throughput',
    answers: { 200: { description: 'the statistics', schema: ref('Stats') } },
    handle: async ({ app }) => json(await stats(app)),
  }),
  get('/api/v1/stats/series', {
    summary: 'Show statistics over time: counts by outcome, and percentiles of wait and run times',
    query: {
      range: `${Object.keys(PERIODS).join(', ')} (24h)`,
      queue: 'only jobs in this queue',
      name: 'only jobs with this name',
      names: 'true to include totals by queue and name',
    },
    answers: { 200: { description: 'the time steps of the range, oldest first', schema: ref('Series') } },
    async handle({ app, one }) {
      const options = { queue: one('queue'), name: one('name'), withNames: booleanOf(one, 'names') };
      return json(await statsSeries(app, rangeOf(one('range') ?? '24h'), options));
    },
  }),
  get('/metrics', {
    summary: 'Get metrics for Prometheus (without a token if the server was started with --public-metrics)',
    answers: { 200: { description: 'OpenMetrics', schema: null, type: TYPE } },
    handle: async ({ app }) =>
      new Response(openMetrics(await metricsSnapshot(app, VERSION)), {
        headers: { 'content-type': `${TYPE}; version=1.0.0; charset=utf-8` },
      }),
  }),
  get('/api/v1/doctor', {
    summary: 'Check the installation and the whole database, and suggest fixes',
    query: { quick: 'true to skip reading the whole database' },
    answers: { 200: { description: 'the findings', schema: ref('Doctor') } },
    async handle({ serving, app, one }) {
      const checks = await diagnose(serving.location, app.clock.now(), !booleanOf(one, 'quick'));
      return json({ version: VERSION, ok: checks.every((check) => check.status !== 'fail'), checks });
    },
  }),
  get('/api/v1/config', {
    summary: 'List the settings with their values, defaults and descriptions',
    answers: { 200: { description: 'the settings', schema: listOf(ref('Setting')) } },
    handle: async ({ app }) => json((await listSettings(app)).map(masked)),
  }),
  get('/api/v1/config/{key}', {
    summary: 'Show a setting',
    answers: { 200: settingAnswer },
    handle: async ({ app, params }) => json(masked(await getSetting(app, params.key!))),
  }),
  put('/api/v1/config/{key}', {
    summary: 'Change a setting, with the value in the same form as on the command line',
    body: ref('SettingValue'),
    answers: { 200: settingAnswer },
    handle: async ({ app, params, body }) =>
      json(
        masked(
          await setSetting(app, params.key!, readText(readFields(body, INPUTS.SettingValue).value, 'value')),
        ),
      ),
  }),
  del('/api/v1/config/{key}', {
    summary: 'Reset a setting to its default',
    answers: { 200: settingAnswer },
    handle: async ({ app, params }) => json(masked(await unsetSetting(app, params.key!))),
  }),
  get('/healthz', {
    summary: 'Check that the server is running',
    access: 'open',
    answers: { 200: { description: 'the server is running', schema: health } },
    handle: async () => json({ status: 'ok' }),
  }),
  get('/readyz', {
    summary: 'Check that the database is available',
    access: 'open',
    answers: {
      200: { description: 'the store is available', schema: health },
      503: { description: 'the store is unavailable', schema: health },
    },
    async handle({ serving }) {
      try {
        await serving.check();
        return json({ status: 'ok' });
      } catch {
        return json({ status: 'the store is unavailable' }, 503);
      }
    },
  }),
  get('/api/v1/server', {
    summary: "Show the server's version and whether this token or session can make changes",
    answers: {
      200: {
        description: 'the server',
        schema: record({ version: text, read_only: boolean, public_metrics: boolean }),
      },
    },
    async handle({ serving, grant }) {
      const readOnly = serving.readOnly || grant.role === 'read-only';
      return json({ version: VERSION, read_only: readOnly, public_metrics: serving.publicMetrics });
    },
  }),
  post('/api/v1/session', {
    summary: 'Log in: exchange the token for a session',
    access: 'read',
    answers: {
      201: {
        description: 'the session, which is sent as a bearer token',
        schema: record({ session: text, role: oneOf(ROLES), idle_timeout_ms: integer }),
      },
    },
    handle: async ({ serving, grant }) =>
      json({ session: serving.access.logIn(grant), role: grant.role, idle_timeout_ms: IDLE_MS }, 201),
  }),
  del('/api/v1/session', {
    summary: "Log out: end this request's session and its event streams",
    access: 'read',
    answers: { 204: { description: 'the session has ended', schema: null } },
    async handle({ grant }) {
      if (grant.session === null)
        refuse('invalid-request', 'this request uses a token, not a session, so it cannot log out');
      grant.session.end();
      return new Response(null, { status: 204 });
    },
  }),
];

function rangeOf(text: string): Period {
  return Object.hasOwn(PERIODS, text)
    ? (text as Period)
    : refuse('invalid-value', `range must be one of ${Object.keys(PERIODS).join(', ')}`);
}
