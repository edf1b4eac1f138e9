import { useSignal } from '@preact/signals';
import { attempt } from '../acts.ts';
import { part, send } from '../api.ts';
import { command } from '../cli.ts';
import { CopyButton } from '../components/copy.tsx';
import { Trouble } from '../components/empty.tsx';
import { Ago } from '../components/time.tsx';
import { useData } from '../data.ts';
import { visible } from '../format.ts';
import { readOnly, server } from '../store.ts';
import type { Setting, StoreEvent } from '../types.ts';

const ofSettings = ({ kind }: StoreEvent): boolean => kind.startsWith('setting');

export function SettingsPage() {
  const found = useData<Setting[]>('/config', { on: ofSettings });
  const changes = useData<{ events: StoreEvent[] }>('/activity?kind=setting-set&limit=200', {
    on: ofSettings,
  });
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
              <th>From</th>
              <th>Meaning</th>
            </tr>
          </thead>
          <tbody>
            {found.value.map((setting) => (
              <Row
                key={setting.key}
                setting={setting}
                change={changes.value?.events.find(({ key }) => key === setting.key)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <h2>This server</h2>
      <About />
    </section>
  );
}

function About() {
  const { version = '', read_only = false, public_metrics = false } = server.value ?? {};
  const rows: [string, string][] = [
    ['Address', location.origin],
    ['Version', version],
    [
      'Changes',
      read_only ? 'None: this server or your token is read-only' : 'Allowed: you have the full token',
    ],
    ['Metrics', public_metrics ? 'Public: started with --public-metrics' : 'Need a token'],
  ];
  return (
    <div class="panel">
      <dl class="spec">
        {rows.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        <div>
          <dt>Storage and health</dt>
          <dd>
            <a href="/doctor">Doctor</a>
          </dd>
        </div>
      </dl>
    </div>
  );
}

function Row({ setting, change }: { setting: Setting; change: StoreEvent | undefined }) {
  const { key: name, text, is_default, range, help } = setting;
  const typed = useSignal<string | null>(null);
  const path = `/config/${part(name)}`;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await attempt(() => send('PUT', path, { value: typed.value }), `${name} is set`)) typed.value = null;
  };
  const unset = (): Promise<boolean> => attempt(() => send('DELETE', path), `${name} is back to its default`);
  return (
    <tr data-row={name}>
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
      <td class="faint" data-label="from">
        {is_default ? (
          'default'
        ) : change === undefined ? (
          'the store'
        ) : (
          <>
            {visible(change.actor ?? 'somebody')}, <Ago at={change.at} />
          </>
        )}
      </td>
      <td class="wide">
        {help}{' '}
        <CopyButton text={command('config', 'set', name, typed.value ?? text)} label="Copy as a command" />
        <br />
        <span class="faint">{range}</span>
      </td>
    </tr>
  );
}
