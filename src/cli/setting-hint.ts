import { isSetting } from '../core/setting-names.ts';
import { shellWord } from '../core/shell-quote.ts';

/** Returns the command that `max-retries 5` or `--max-retries 5` probably means, or undefined if no setting is named. */
export function settingHint([first = '', value]: string[]): string | undefined {
  const [name, inline] = first.replace(/^-+/, '').split('=');
  if (!isSetting(name!)) return undefined;
  const text = inline ?? value;
  return text === undefined
    ? `to print the setting: queuectl config get ${name}`
    : `to change the setting: queuectl config set ${name} ${shellWord(text)}`;
}
