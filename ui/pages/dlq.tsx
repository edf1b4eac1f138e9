import { part } from '../api.ts';
import { Empty, Trouble } from '../components/empty.tsx';
import { Menu } from '../components/menu.tsx';
import { Ago } from '../components/time.tsx';
import { useData } from '../data.ts';
import { number, plural, visible } from '../format.ts';
import { actOnGroup, commonText, type GroupAct } from '../group-acts.ts';
import { focusedRow, useKeys } from '../keys.ts';
import { muted, toggleMuted } from '../muted.ts';
import { readOnly } from '../store.ts';
import type { ErrorGroup, ErrorGroups } from '../types.ts';

const SLOW_MS = 2000;

/** Dead jobs by what killed them: one decision for all that died of the same. */
export function DlqPage() {
  const found = useData<ErrorGroups>('/dlq/groups', {
    on: ({ kind }) => ['dead', 'retried', 'deleted', 'jobs-pruned'].includes(kind),
    gapMs: SLOW_MS,
  });
  const groups = found.value?.groups ?? [];
  const act = (action: GroupAct['action']) => (): void => {
    const group = groups.find(({ signature }) => signature === focusedRow());
    if (group !== undefined && !readOnly.value) void actOnGroup({ action }, group);
  };
  useKeys({ r: act('retry'), '#': act('delete') });
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const loud = groups.filter(({ signature }) => !muted.value.has(signature));
  const quiet = groups.filter(({ signature }) => muted.value.has(signature));
  return (
    <section aria-label="Dead letter queue">
      <h1 class="hidden">Dead letter queue</h1>
      {groups.length === 0 ? (
        <Empty text="No job is dead. Whatever used up its attempts would be here." cli="queuectl dlq list" />
      ) : (
        <p class="line">
          <span class="faint">
            {plural(found.value.looked_at, 'dead job')} in {plural(groups.length, 'group')}
            {found.value.capped ? '; only the newest are looked at' : ''}
          </span>
          <span class="grow" />
          <a class="button small" href="/jobs?state=dead">
            As a list
          </a>
        </p>
      )}
      {loud.length === 0 ? null : <Groups groups={loud} />}
      {quiet.length === 0 ? null : (
        <details class="muted">
          <summary>{plural(quiet.length, 'muted group')}</summary>
          <Groups groups={quiet} />
        </details>
      )}
    </section>
  );
}

const WINDOWS = {
  ...{ last_hour: '1 h', last_3_hours: '3 h', last_day: '24 h', last_3_days: '3 d', last_week: '7 d' },
} as const;
const WINDOW_NAMES = Object.entries(WINDOWS) as [keyof typeof WINDOWS, string][];

function Groups({ groups }: { groups: ErrorGroup[] }) {
  return (
    <div class="table">
      <table class="stack groups">
        <thead>
          <tr>
            <th class="right">Jobs</th>
            <th>Error</th>
            {WINDOW_NAMES.map(([field, title]) => (
              <th key={field} class="right">
                {title}
              </th>
            ))}
            <th class="right">First</th>
            <th class="right">Last</th>
            {readOnly.value ? null : <th>Do</th>}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Group key={group.signature} {...group} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Group(group: ErrorGroup) {
  const { signature, jobs, sample_id, sample_error, names, queues } = group;
  const common = commonText(group);
  return (
    <tr data-row={signature}>
      <td class="right number value">{number(jobs)}</td>
      <td class="wide">
        <h2>{visible(signature)}</h2>
        {sample_error === signature ? null : <p class="sample">{visible(sample_error)}</p>}
        <p class="facts">
          <span>
            such as <a href={`/jobs/${part(sample_id)}`}>{sample_id}</a>
          </span>
          {names.map((name) => (
            <a key={name} href={`/jobs?state=dead&name=${part(name)}`}>
              {visible(name)}
            </a>
          ))}
          <span>in {queues.map(visible).join(', ')}</span>
          {common === null ? null : (
            <a href={`/jobs?state=dead&error=${part(common)}`}>search for “{visible(common)}”</a>
          )}
        </p>
      </td>
      {WINDOW_NAMES.map(([field, title]) => (
        <td key={field} class="right number" data-label={title}>
          {group[field] === 0 ? <span class="faint">0</span> : number(group[field])}
        </td>
      ))}
      <td class="right" data-label="first">
        <Ago at={group.first_at} />
      </td>
      <td class="right" data-label="last">
        <Ago at={group.last_at} />
      </td>
      {readOnly.value ? null : (
        <td>
          <Actions group={group} />
        </td>
      )}
    </tr>
  );
}

const CANARIES = 5;
const SLOWLY = 10;

function Actions({ group }: { group: ErrorGroup }) {
  const act = (label: string, how: GroupAct, look = 'small') => (
    <button type="button" class={look} onClick={() => void actOnGroup(how, group)}>
      {label}
    </button>
  );
  return (
    <span class="buttons">
      {act('Retry all', { action: 'retry' })}
      <Menu label="More" icon="down">
        {act(`Retry ${CANARIES} as canary`, { action: 'retry', limit: CANARIES }, 'plain')}
        {act(`Retry ${SLOWLY} a second`, { action: 'retry', perSecond: SLOWLY }, 'plain')}
        {act('Delete all', { action: 'delete' }, 'plain danger-text')}
        <button type="button" class="plain" onClick={() => toggleMuted(group.signature)}>
          {muted.value.has(group.signature) ? 'Unmute' : 'Mute in this browser'}
        </button>
      </Menu>
    </span>
  );
}
