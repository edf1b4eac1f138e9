import { useComputed, useSignal } from '@preact/signals';
import { actOnMany, type Selected, type Verb } from '../acts.ts';
import { listCommand } from '../cli.ts';
import { BulkBar } from '../components/bulk-bar.tsx';
import { CopyButton } from '../components/copy.tsx';
import { Empty, Trouble } from '../components/empty.tsx';
import { FilterBar } from '../components/filter-bar.tsx';
import { JobTable } from '../components/job-table.tsx';
import { StateTabs } from '../components/state-tabs.tsx';
import { useData } from '../data.ts';
import { type Filter, filterOf } from '../filter.ts';
import { number, plural } from '../format.ts';
import { focusedRow, useKeys } from '../keys.ts';
import { go, place, withQuery } from '../router.ts';
import { readOnly } from '../store.ts';
import type { JobPage } from '../types.ts';

const PAGE = 50;

export function JobsPage() {
  const filter = filterOf(place.value.query);
  const cursor = place.value.query.get('cursor');
  const asked = new URLSearchParams([
    ...filter,
    ['limit', String(PAGE)],
    ...(cursor ? [['cursor', cursor]] : []),
  ]);
  const page = useData<JobPage>(`/jobs?${asked}`);
  const { ids, all, toggle, selectPage, selectAll, clear, from } = useSelection(filter.toString());
  const jobs = page.value?.jobs ?? [];
  const count = page.value?.count ?? { value: 0, capped: false };
  const selected: Selected = all ? { filter, count: count.value, capped: count.capped } : { ids: [...ids] };
  const shown = new Set(all ? jobs.map((job) => job.id) : ids);
  const total = `${number(count.value)}${count.capped ? '+' : ''}`;
  const whole = jobs.length > 0 && jobs.every((job) => ids.has(job.id));

  const act = async (verb: Verb): Promise<void> => {
    const row = focusedRow();
    const on = all || ids.size > 0 ? selected : row === null ? null : { ids: [row] };
    if (on !== null && !readOnly.value && (await actOnMany(verb, on))) clear();
  };
  useKeys({
    r: () => void act('retry'),
    c: () => void act('cancel'),
    '#': () => void act('delete'),
    a: selectAll,
    X: () => {
      const ordered = jobs.map((job) => job.id);
      const [a, b] = [ordered.indexOf(from ?? ''), ordered.indexOf(focusedRow() ?? '')].sort((x, y) => x - y);
      if (a! >= 0) selectPage(ordered.slice(a, b! + 1), true);
    },
    Escape: clear,
  });

  return (
    <section aria-label="Jobs">
      <h1 class="hidden">Jobs</h1>
      <FilterBar filter={filter} onChange={show} />
      <StateTabs filter={filter} />
      {(ids.size > 0 || all) && !readOnly.value ? (
        <BulkBar
          selected={selected}
          more={whole && !all && (count.value > ids.size || count.capped) ? total : null}
          onAll={selectAll}
          onDone={clear}
        />
      ) : (
        <div class="line">
          <span class="faint" aria-live="polite">
            {page.value === null
              ? 'Reading …'
              : plural(count.value, 'job').replace(' ', `${count.capped ? '+' : ''} `)}
          </span>
          <span class="grow" />
          <CopyButton text={listCommand(filter)} label="Copy this list as a command" word="Copy as CLI" />
          <CopyButton text={JSON.stringify(jobs, null, 2)} label="Copy this page as JSON" word="JSON" />
        </div>
      )}
      {page.problem !== null && page.value === null ? <Trouble problem={page.problem} /> : null}
      {page.value !== null && jobs.length === 0 ? <None filter={filter} /> : null}
      {jobs.length === 0 ? null : readOnly.value ? (
        <JobTable jobs={jobs} />
      ) : (
        <JobTable
          jobs={jobs}
          selected={shown}
          onSelect={toggle}
          onSelectPage={(on) =>
            selectPage(
              jobs.map((job) => job.id),
              on,
            )
          }
        />
      )}
      <nav class="pager" aria-label="Pages of jobs">
        {cursor === null ? null : (
          <a class="button" href={withQuery({ cursor: null })}>
            Newest
          </a>
        )}
        {page.value?.next_cursor ? (
          <a class="button" rel="next" href={withQuery({ cursor: page.value.next_cursor })}>
            Older
          </a>
        ) : null}
      </nav>
    </section>
  );
}

/** A filter given in another way begins at its first page. */
function show(filter: Filter): void {
  const text = filter.toString();
  go(text === '' ? '/jobs' : `/jobs?${text}`);
}

function None({ filter }: { filter: Filter }) {
  if ([...filter].length > 0) return <Empty text="No job matches." cli={listCommand(filter)} />;
  return <Empty text="There is no job yet. The first one:" cli="queuectl enqueue 'echo hello'" />;
}

/** Which jobs are selected; another filter selects nothing. */
function useSelection(key: string) {
  const of = useSignal(key);
  const ids = useSignal<ReadonlySet<string>>(new Set());
  const all = useSignal(false);
  const from = useSignal<string | null>(null);
  const same = of.value === key;
  const clear = (): void => {
    of.value = key;
    ids.value = new Set();
    all.value = false;
  };
  const current = useComputed(() => ids.value);
  const change = (some: string[], on: boolean): void => {
    const next = new Set(same ? ids.value : []);
    for (const id of some) on ? next.add(id) : next.delete(id);
    of.value = key;
    all.value = false;
    ids.value = next;
  };
  return {
    ids: same ? current.value : new Set<string>(),
    all: same && all.value,
    from: from.value,
    clear,
    selectPage: change,
    toggle(id: string): void {
      from.value = id;
      change([id], !(same && ids.value.has(id)));
    },
    selectAll(): void {
      of.value = key;
      all.value = true;
    },
  };
}
