import { getSetting, listSettings, setSetting, unsetSetting } from '../../actions/config.ts';
import { masked } from '../../core/mask.ts';
import { listOf, ref } from '../../core/schema.ts';
import { fields, text } from '../body.ts';
import { json, type Route } from '../route.ts';

const setting = { description: 'the setting', schema: ref('Setting') };

export const SETTING_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/config',
    summary: 'List the settings with their values, defaults and descriptions',
    access: 'look',
    answers: { 200: { description: 'the settings', schema: listOf(ref('Setting')) } },
    handle: async ({ app }) => json((await listSettings(app)).map(masked)),
  },
  {
    method: 'GET',
    path: '/api/v1/config/{key}',
    summary: 'Show a setting',
    access: 'look',
    answers: { 200: setting },
    handle: async ({ app, params }) => json(masked(await getSetting(app, params.key!))),
  },
  {
    method: 'PUT',
    path: '/api/v1/config/{key}',
    summary: 'Change a setting, with the value in the same form as on the command line',
    access: 'change',
    body: ref('NewValue'),
    answers: { 200: setting },
    handle: async ({ app, params, body }) =>
      json(masked(await setSetting(app, params.key!, text(fields(body, ['value']).value, 'value')))),
  },
  {
    method: 'DELETE',
    path: '/api/v1/config/{key}',
    summary: 'Reset a setting to its default',
    access: 'change',
    answers: { 200: setting },
    handle: async ({ app, params }) => json(masked(await unsetSetting(app, params.key!))),
  },
];
