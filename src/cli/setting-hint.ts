import { isSetting } from '../core/setting-names.ts';
import { shellWord } from '../core/shell-quote.ts';

/** Returns a hint for words such as `max-retries 5` or `--max-retries 5`, or undefined if they name no setting. */
export function settingHint([first = '', value]: string[]): string | undefined {
  const [name, inline] = first.replace(/^-+/, '').split('=');
  if (!isSetting(name!)) return undefined;
  const text = inline ?? value;
  return text === undefined
    ? `to print the setting: queuectl config get ${name}`
    : `to change the setting: queuectl config set ${name} ${shellWord(text)}`;
}
