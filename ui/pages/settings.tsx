import { useSignal } from '@preact/signals';
import { attempt } from '../acts.ts';
import { part, send } from '../api.ts';
import { command } from '../cli.ts';
import { CopyButton } from '../components/copy.tsx';
import { Trouble } from '../components/empty.tsx';
import { useData } from '../data.ts';
import { readOnly } from '../store.ts';
import type { Setting } from '../types.ts';

export function SettingsPage() {
  const found = useData<Setting[]>('/config', { on: ({ kind }) => kind.startsWith('setting') });
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  return (
    <section aria-label="Settings">
      <h1 class="hidden">Settings</h1>
      <div class="table">
        <table class="settings stack">
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>Range</th>
              <th>Meaning</th>
            </tr>
          </thead>
          <tbody>
            {found.value.map((setting) => (
              <Row key={setting.key} setting={setting} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ setting }: { setting: Setting }) {
  const { key: name, text, is_default, range, help } = setting;
  const typed = useSignal<string | null>(null);
  const path = `/config/${part(name)}`;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await attempt(() => send('PUT', path, { value: typed.value }), `${name} is set`)) typed.value = null;
  };
  const unset = (): Promise<boolean> => attempt(() => send('DELETE', path), `${name} is back to its default`);
  return (
    <tr>
      <td>
        <code>{name}</code>
      </td>
      <td class="wide">
        <form class="inline" onSubmit={(event) => void save(event)}>
          <input
            aria-label={name}
            value={typed.value ?? text}
            readOnly={readOnly.value}
            class={is_default ? 'default' : ''}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
          {typed.value === null || typed.value === text ? null : (
            <button type="submit" class="small primary">
              Set
            </button>
          )}
          {is_default || readOnly.value ? null : (
            <button type="button" class="small" onClick={() => void unset()}>
              Default
            </button>
          )}
        </form>
      </td>
      <td class="faint" data-label="range">
        {range}
      </td>
      <td class="wide">
        {help}{' '}
        <CopyButton text={command('config', 'set', name, typed.value ?? text)} label="Copy as a command" />
      </td>
    </tr>
  );
}
