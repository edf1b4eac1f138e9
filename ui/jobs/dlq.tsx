import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { focusedRow, useKeys } from '../frame/keys.ts';
import { readOnly } from '../frame/store.ts';
import { Empty, Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { number, plural, visible } from '../parts/format.ts';
import { Menu } from '../parts/menu.tsx';
import { rowLook, ShowNew } from '../parts/show-new.tsx';
import { type Steady, useSteady } from '../parts/steady.ts';
import { right, Table } from '../parts/table-box.tsx';
import { Ago } from '../parts/time.tsx';
import type { ErrorGroup, ErrorGroups } from '../types.ts';
import { DLQ } from '../words/dlq.ts';
import { SHARED } from '../words/shared.ts';
import { actOnGroup, commonText, type GroupAct } from './group-acts.ts';
import { muted, toggleMuted } from './muted.ts';

const SLOW_MS = 2000;

/** Groups dead jobs by their error, so that one action covers all jobs with the same cause. */
export function DlqPage() {
  const found = useData<ErrorGroups>('/dlq/groups', {
    on: ({ kind }) => ['dead', 'retried', 'deleted', 'jobs-pruned'].includes(kind),
    gapMs: SLOW_MS,
  });
  const list = useSteady('groups', found.value?.groups ?? [], ({ signature }) => signature);
  const groups = list.rows;
  const act = (action: GroupAct['action']) => (): void => {
    const group = groups.find(({ signature }) => signature === focusedRow());
    if (group !== undefined && !readOnly.value) void actOnGroup({ action }, group);
  };
  useKeys({ r: act('retry'), '#': act('delete') });
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const loud = groups.filter(({ signature }) => !muted.value.has(signature));
  const quiet = groups.filter(({ signature }) => muted.value.has(signature));
  return (
    <section aria-label={DLQ.title} {...list.box}>
      <h1 class="hidden">{DLQ.title}</h1>
      {groups.length === 0 ? (
        <Empty text={DLQ.none} cli="queuectl dlq list" />
      ) : (
        <p class="line">
          <span class="faint">
            {DLQ.summary(plural(found.value.looked_at, DLQ.deadJob), plural(groups.length, DLQ.group))}
            {found.value.capped ? DLQ.newestOnly : ''}
          </span>
          <ShowNew of={list} noun={DLQ.group} />
          <span class="grow" />
          <a class="button small" href="/jobs?state=dead">
            {DLQ.asList}
          </a>
        </p>
      )}
      {loud.length === 0 ? null : <Groups groups={loud} list={list} />}
      {quiet.length === 0 ? null : (
        <details class="muted">
          <summary>{plural(quiet.length, DLQ.mutedGroup)}</summary>
          <Groups groups={quiet} list={list} />
        </details>
      )}
    </section>
  );
}

const WINDOWS = Object.entries(DLQ.windows) as [keyof typeof DLQ.windows, string][];

function Groups({ groups, list }: { groups: ErrorGroup[]; list: Steady<ErrorGroup> }) {
  return (
    <Table
      look="groups"
      heads={[
        right(DLQ.jobs),
        DLQ.error,
        ...WINDOWS.map(([, title]) => right(title)),
        right(DLQ.first),
        right(DLQ.last),
        readOnly.value ? null : SHARED.actions,
      ]}
    >
      {groups.map((group) => (
        <Group
          key={group.signature}
          group={group}
          before={list.before.get(group.signature) ?? group}
          isGone={list.gone.has(group.signature)}
        />
      ))}
    </Table>
  );
}

interface GroupProps {
  group: ErrorGroup;
  /** The group when it was held. Its texts stay, so that the row keeps its height. Only the numbers change. */
  before: ErrorGroup;
  isGone: boolean;
}

function Group({ group, before, isGone }: GroupProps) {
  const { signature, jobs } = group;
  const { sample_id, sample_error, names, queues } = before;
  const common = commonText(before);
  return (
    <tr data-row={signature} {...rowLook(isGone)}>
      <td class="right number value">{number(jobs)}</td>
      <td class="wide">
        <h2>{visible(signature)}</h2>
        {sample_error === signature ? null : <p class="sample">{visible(sample_error)}</p>}
        <p class="facts">
          <span>
            <Fill text={DLQ.example} job={<a href={`/jobs/${part(sample_id)}`}>{sample_id}</a>} />
          </span>
          {names.map((name) => (
            <span key={name}>
              <Fill
                text={DLQ.name}
                name={<a href={`/jobs?state=dead&name=${part(name)}`}>{visible(name)}</a>}
              />
            </span>
          ))}
          <span>{(queues.length === 1 ? DLQ.queue : DLQ.queues)(queues.map(visible).join(', '))}</span>
          {common === null ? null : (
            <a href={`/jobs?state=dead&error=${part(common)}`}>{DLQ.search(visible(common))}</a>
          )}
        </p>
      </td>
      {WINDOWS.map(([field, title]) => (
        <td key={field} class="right number" data-label={title}>
          {group[field] === 0 ? <span class="faint">0</span> : number(group[field])}
        </td>
      ))}
      <td class="right" data-label={DLQ.first}>
        <Ago at={group.first_at} />
      </td>
      <td class="right" data-label={DLQ.last}>
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
      {act(DLQ.retryAll, { action: 'retry' })}
      <Menu label={DLQ.more} icon="down">
        {act(DLQ.retrySome(CANARIES), { action: 'retry', limit: CANARIES }, 'plain')}
        {act(DLQ.retrySlowly(SLOWLY), { action: 'retry', perSecond: SLOWLY }, 'plain')}
        {act(DLQ.deleteAll, { action: 'delete' }, 'plain danger-text')}
        <button type="button" class="plain" onClick={() => toggleMuted(group.signature)}>
          {muted.value.has(group.signature) ? DLQ.unmute : DLQ.mute}
        </button>
      </Menu>
    </span>
  );
}
