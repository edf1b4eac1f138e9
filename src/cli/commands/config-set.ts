import { setSetting } from '../../actions/config.ts';
import { settingAliases } from '../../core/setting-names.ts';
import { SETTING_KEYS } from '../../core/settings.ts';
import { defineCommand } from '../command.ts';
import type { Row } from '../help-page.ts';
import { jsonText } from '../layout.ts';
import { settingHint } from '../setting-hint.ts';
import { printable } from '../text.ts';

/** Reads `max-retries=5` as `max-retries 5`. */
function splitAssignment(args: string[]): string[] {
  const [, key, value] = args.length === 1 ? (/^([\w.-]+)=(.*)$/s.exec(args[0]!) ?? []) : [];
  return key === undefined ? args : [key, value!];
}

export default defineCommand({
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
    SETTING_KEYS.map((key): Row => [key, settingAliases(key).join(', ')]),
  ],
  usageHint: settingHint,
  async run({ io, app }, input) {
    const [
      key = input.required(0, 'the name of the setting', 'to list the settings: queuectl config list'),
      value = input.required(1, 'the value', `usage: queuectl config set ${key} VALUE`),
    ] = splitAssignment(input.args);
    const setting = await setSetting(await app(), key, value);
    const text = `${setting.key} = ${io.tty ? printable(setting.text) : setting.text}`;
    io.out(`${io.json ? jsonText(io, setting) : text}\n`);
  },
});
