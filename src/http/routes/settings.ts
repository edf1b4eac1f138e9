import { getSetting, listSettings, setSetting, unsetSetting } from '../../actions/config.ts';
import { masked } from '../../core/mask.ts';
import { listOf, ref } from '../../core/schema.ts';
import { readFields, readText } from '../body.ts';
import { del, get, json, put, type Route } from '../route.ts';

const settingAnswer = { description: 'the setting', schema: ref('Setting') };

export const SETTING_ROUTES: Route[] = [
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
      json(masked(await setSetting(app, params.key!, readText(readFields(body, ['value']).value, 'value')))),
  }),
  del('/api/v1/config/{key}', {
    summary: 'Reset a setting to its default',
    answers: { 200: settingAnswer },
    handle: async ({ app, params }) => json(masked(await unsetSetting(app, params.key!))),
  }),
];
