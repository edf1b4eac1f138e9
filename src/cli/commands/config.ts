import {
  getSetting,
  listSettings,
  setSetting,
  unsetAllSettings,
  unsetSetting,
} from '../../actions/config.ts';
import { usageError } from '../../core/errors.ts';
import { isSetting, settingAliases } from '../../core/settings/setting-names.ts';
import { SETTING_KEYS } from '../../core/settings/settings.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { SettingObject } from '../../core/wire/wire.ts';
import { defineCommand } from '../frame/command.ts';
import type { HelpRow } from '../help/help-page.ts';
import { jsonText, printJson } from '../print/layout.ts';
import { type Listing, listAll, listFlags, printList } from '../print/print-list.ts';
import { printable } from '../print/text.ts';

const SETTING_LIST: Listing<SettingObject> = {
  id: (setting) => setting.key,
  columns: () => [
    { title: 'KEY', value: (setting) => setting.key },
    {
      title: 'VALUE',
      value: (setting) => maskUrls(setting.text),
      shrinks: true,
      color: (setting) => (setting.is_default ? 'dim' : 'green'),
    },
    { title: 'DESCRIPTION', value: (setting) => setting.help, shrinks: true, least: 16, drop: 0 },
  ],
};

const list = defineCommand({
  name: 'config list',
  summary: 'List all settings with their values',
  flags: listFlags('{key}\\t{value}'),
  prints: { object: 'Setting' },
  examples: ['queuectl config list', 'queuectl config list --json=key,value'],
  run: listAll(SETTING_LIST, listSettings),
});

const get = defineCommand({
  name: 'config get',
  summary: 'Print the value of a setting, or all settings',
  args: '[KEY]',
  flags: list.flags,
  prints: { object: 'Setting' },
  examples: ['queuectl config get max-retries', 'queuectl config get'],
  async run(context, input) {
    const { io } = context;
    const [key] = input.args;
    if (key === undefined) return list.run(context, input);
    const app = await context.app();
    const setting = await getSetting(app, key);
    if (input.has('format')) await printList(io, SETTING_LIST, [setting], app.clock.now());
    else if (io.json) printJson(io, setting);
    else io.out(`${io.tty ? printable(setting.text) : setting.text}\n`);
    return undefined;
  },
});

/** Reads `max-retries=5` as `max-retries 5`. */
function splitAssignment(args: string[]): string[] {
  const [, key, value] = args.length === 1 ? (/^([\w.-]+)=(.*)$/s.exec(args[0]!) ?? []) : [];
  return key === undefined ? args : [key, value!];
}

const set = defineCommand({
  name: 'config set',
  summary: 'Change a setting',
  args: 'KEY VALUE',
  access: 'write',
  creates: true,
  prints: { object: 'Setting' },
  examples: [
    'queuectl config set max-retries 5',
    'queuectl config set job-timeout 10m',
    'queuectl config set backoff-base 1.5',
    'queuectl config set keep-completed 7d,100000',
    'queuectl config set on-dead \'logger "job $QUEUECTL_HOOK_JOB_ID is dead"\'',
  ],
  notes: [
    "Running workers apply the change at their next heartbeat (within 5 seconds by default). See 'queuectl help config' for all settings and 'queuectl help hooks' for on-complete, on-failure, on-dead and on-idle.",
    'keep-completed, keep-cancelled and keep-dead take a maximum age (7d), number of jobs (100000) or size (1G), or a combination (7d,1G). If a limit is exceeded, the oldest jobs are removed. Use none to keep all jobs.',
    'A duration without a unit is in seconds, and settings have these other names:',
    SETTING_KEYS.map((key): HelpRow => [key, settingAliases(key).join(', ')]),
  ],
  usageHint: settingHint,
  async run({ io, app }, input) {
    const [
      key = input.required(0, 'the name of the setting', 'to list the settings: queuectl config list'),
      value = input.required(1, 'the value', `usage: queuectl config set ${shellWord(key)} VALUE`),
    ] = splitAssignment(input.args);
    const setting = await setSetting(await app(), key, value);
    const text = `${setting.key} = ${io.tty ? printable(setting.text) : setting.text}`;
    io.out(`${io.json ? jsonText(io, setting) : text}\n`);
  },
});

const unset = defineCommand({
  name: 'config unset',
  summary: 'Reset a setting to its default',
  args: '(KEY | --all)',
  access: 'write',
  flags: { all: { help: 'reset all settings' } },
  prints: { object: 'Setting' },
  examples: ['queuectl config unset max-retries', 'queuectl config unset --all'],
  async run({ io, app }, input) {
    const all = input.has('all');
    if (all && input.args.length > 0) throw usageError('use a setting or --all, not both');
    if (!all)
      input.required(0, 'the name of the setting, or --all,', 'to list the settings: queuectl config list');
    const settings = all
      ? await unsetAllSettings(await app())
      : [await unsetSetting(await app(), input.args[0]!)];
    const texts = settings.map((setting) => jsonText(io, setting));
    if (io.json) io.out(all ? `[${texts.join(',')}]\n` : `${texts[0]}\n`);
    else for (const { key, text } of settings) io.out(`${key} = ${io.tty ? printable(text) : text}\n`);
    if (all && settings.length === 0) io.note('all settings already had their default values');
  },
});

export default { list, get, set, unset };

/** Returns a hint for words such as `max-retries 5` or `--max-retries 5`, or undefined if they name no setting. */
export function settingHint([first = '', value]: string[]): string | undefined {
  const [name, inline] = first.replace(/^-+/, '').split('=');
  if (!isSetting(name!)) return undefined;
  const text = inline ?? value;
  return text === undefined
    ? `to print the setting: queuectl config get ${shellWord(name!)}`
    : `to change the setting: queuectl config set ${shellWord(name!)} ${shellWord(text)}`;
}
