import { useSignal } from '@preact/signals';
import { part, send } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { useData } from '../frame/data.ts';
import { readOnly, server } from '../frame/store.ts';
import { runAction } from '../jobs/acts.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Trouble } from '../parts/empty.tsx';
import { sentence, visible } from '../parts/format.ts';
import { Table } from '../parts/table-box.tsx';
import { Ago } from '../parts/time.tsx';
import type { Setting, StoreEvent } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { SETTINGS } from '../words/settings.ts';
import { SHARED } from '../words/shared.ts';

const ofSettings = ({ kind }: StoreEvent): boolean => kind.startsWith('setting');

export function SettingsPage() {
  const found = useData<Setting[]>('/config', { on: ofSettings });
  const changes = useData<{ events: StoreEvent[] }>('/activity?kind=setting-set&limit=200', {
    on: ofSettings,
  });
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  return (
    <section aria-label={PAGE_TITLES.settings}>
      <h1 class="hidden">{PAGE_TITLES.settings}</h1>
      <Table
        look="settings"
        heads={[SETTINGS.setting, SETTINGS.value, SETTINGS.source, SETTINGS.description]}
      >
        {found.value.map((setting) => (
          <Row
            key={setting.key}
            setting={setting}
            change={changes.value?.events.find(({ key }) => key === setting.key)}
          />
        ))}
      </Table>
      <h2>{SETTINGS.server}</h2>
      <About />
    </section>
  );
}

function About() {
  const { version = '', read_only = false, public_metrics = false } = server.value ?? {};
  const rows: [string, string][] = [
    [SETTINGS.address, location.origin],
    [SHARED.version, version],
    [SETTINGS.access, read_only ? SETTINGS.readOnly : SETTINGS.fullAccess],
    [SETTINGS.metrics, public_metrics ? SETTINGS.publicMetrics : SETTINGS.privateMetrics],
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
          <dt>{SETTINGS.health}</dt>
          <dd>
            <a href="/doctor">{PAGE_TITLES.doctor}</a>
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
    if (await runAction(() => send('PUT', path, { value: typed.value }), SETTINGS.saved(name)))
      typed.value = null;
  };
  const unset = (): Promise<boolean> => runAction(() => send('DELETE', path), SETTINGS.wasReset(name));
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
              {SETTINGS.save}
            </button>
          )}
          {is_default || readOnly.value ? null : (
            <button type="button" class="small" onClick={() => void unset()}>
              {SETTINGS.reset}
            </button>
          )}
        </form>
      </td>
      <td class="faint" data-label={SETTINGS.source}>
        {is_default ? (
          SETTINGS.isDefault
        ) : change === undefined ? (
          SETTINGS.isSet
        ) : (
          <>
            {visible(change.actor ?? SHARED.unknownUser)}, <Ago at={change.at} />
          </>
        )}
      </td>
      <td class="wide">
        {sentence(help)}{' '}
        <CopyButton text={command('config', 'set', name, typed.value ?? text)} label={SHARED.copyAsCli} />
        <br />
        <span class="faint">{SETTINGS.range(range)}</span>
      </td>
    </tr>
  );
}
