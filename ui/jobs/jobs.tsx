import { part } from '../frame/api.ts';
import { listCommand } from '../frame/cli.ts';
import { focusedRow, leaveRow, useKeys } from '../frame/keys.ts';
import { go, listHref, place, withQuery } from '../frame/router.ts';
import { readOnly } from '../frame/store.ts';
import { Empty, Trouble } from '../parts/empty.tsx';
import { number, plural } from '../parts/format.ts';
import { ShowNew } from '../parts/show-new.tsx';
import { notify } from '../parts/toasts.ts';
import { togglePaused } from '../queues/queue-acts.ts';
import { type JobPage, STATES } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { JOBS } from '../words/jobs.ts';
import { actOnMany, type Selected, type Verb } from './acts.ts';
import { BulkBar } from './bulk-bar.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { columnsOf } from './columns.tsx';
import { CopyMenu } from './copy-menu.tsx';
import { type Filter, filterOf } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { JobTable } from './job-table.tsx';
import { ReasonFacet } from './reason-facet.tsx';
import { useSelection } from './selection.ts';
import { useShownJobs } from './shown-jobs.ts';
import { StateTabs } from './state-tabs.tsx';
import { ViewMenu } from './view-menu.tsx';

const PAGE = 50;

export function JobsPage() {
  const { query } = place.value;
  const filter = filterOf(query);
  const cursor = query.get('cursor');
  const asked = new URLSearchParams([
    ...filter,
    ['limit', String(PAGE)],
    ...(cursor ? [['cursor', cursor]] : []),
  ]);
  const { ids, all, toggle, selectPage, selectAll, clear, from } = useSelection(filter.toString());
  const sort = query.get('sort');
  const columns = columnsOf(query);
  const list = useShownJobs(`/jobs?${asked}`, sort, all || ids.size > 0);
  const { page, rows: jobs, next } = list;
  const count = page.value?.count ?? null;
  const selected = all ? matching(filter, count) : { ids: [...ids] };
  const shown = new Set(all ? jobs.map((job) => job.id) : ids);
  const total = count === null ? '' : `${number(count.value)}${count.capped ? '+' : ''}`;
  const whole = jobs.length > 0 && jobs.every((job) => ids.has(job.id));
  const apart = sort !== null && (cursor !== null || next !== null);

  const act = async (verb: Verb): Promise<void> => {
    const row = focusedRow();
    const some = all || ids.size > 0;
    if (readOnly.value || (!some && row === null)) return;
    const on = some ? selected : { ids: [row!] };
    if (on === null) notify(JOBS.counting);
    else if (await actOnMany(verb, on)) clear();
  };
  useKeys({
    r: () => void act('retry'),
    c: () => void act('cancel'),
    '#': () => void act('delete'),
    a: () => (count === null ? notify(JOBS.counting) : selectAll()),
    X: () => {
      const order = jobs.map((job) => job.id);
      const [a, b] = [order.indexOf(from ?? ''), order.indexOf(focusedRow() ?? '')].sort((x, y) => x - y);
      if (a! >= 0) selectPage(order.slice(a, b! + 1), true);
    },
    l: () => {
      const row = focusedRow();
      if (row !== null) go(`/jobs/${part(row)}?tab=output`);
    },
    p: () => {
      const row = jobs.find((job) => job.id === focusedRow());
      if (row !== undefined) togglePaused(row.queue);
    },
    Escape: () => {
      if (all || ids.size > 0) clear();
      else leaveRow();
    },
  });

  const copies = (
    <CopyMenu
      jobs={ids.size > 0 && !all ? jobs.filter((job) => ids.has(job.id)) : jobs}
      columns={columns}
      cli={listCommand(filter)}
    />
  );
  return (
    <section aria-label={PAGE_TITLES.jobs}>
      <h1 class="hidden">{PAGE_TITLES.jobs}</h1>
      <FilterBar filter={filter} onChange={(next) => go(listHref(next))} />
      <StateTabs filter={filter} />
      <div {...list.box}>
        <ReasonFacet filter={filter} />
        <div class="tools">
          {(ids.size > 0 || all) && !readOnly.value ? (
            <BulkBar
              selected={selected}
              more={
                whole && !all && count !== null && (count.value > ids.size || count.capped) ? total : null
              }
              onAll={selectAll}
              onDone={clear}
              news={<ShowNew of={list} noun="job" />}
            >
              {copies}
            </BulkBar>
          ) : (
            <div class="line">
              <span class="faint" aria-live="polite">
                {count !== null
                  ? plural(count.value, 'job').replace(' ', `${count.capped ? '+' : ''} `)
                  : page.problem === null
                    ? JOBS.loading
                    : ''}
                {apart ? JOBS.sortedPage : ''}
              </span>
              <ShowNew of={list} noun="job" />
              <span class="grow" />
              <ViewMenu />
              <ColumnMenu columns={columns} />
              {copies}
            </div>
          )}
        </div>
        {page.problem !== null && page.value === null ? <Trouble problem={page.problem} /> : null}
        {page.value !== null && jobs.length === 0 ? <None filter={filter} more={next !== null} /> : null}
        {jobs.length === 0 ? null : (
          <JobTable
            jobs={jobs}
            columns={columns}
            sort={sort}
            steady={list}
            {...(readOnly.value
              ? {}
              : {
                  selected: shown,
                  onSelect: toggle,
                  onSelectPage: (on: boolean) =>
                    selectPage(
                      jobs.map((job) => job.id).filter((id) => !list.gone.has(id)),
                      on,
                    ),
                })}
          />
        )}
        <nav class="pager" aria-label={JOBS.pages}>
          {cursor === null ? null : (
            <a class="button" href={withQuery({ cursor: null })}>
              {JOBS.newest}
            </a>
          )}
          {next === null ? null : (
            <a class="button" rel="next" href={withQuery({ cursor: next })}>
              {JOBS.older}
            </a>
          )}
        </nav>
      </div>
    </section>
  );
}

/** Selects all jobs that match, or returns null until they are counted, so that no action covers an unknown number. */
function matching(filter: Filter, count: JobPage['count'] | null): Selected | null {
  if (count === null) return null;
  // The API and the command line refuse an empty filter, so all states are named.
  const said = filter.size > 0 ? filter : new URLSearchParams({ state: STATES.join() });
  return { filter: said, count: count.value, capped: count.capped };
}

function None({ filter, more }: { filter: Filter; more: boolean }) {
  if (more) return <Empty text={JOBS.noneSoFar} cli={listCommand(filter)} />;
  if ([...filter].length > 0) return <Empty text={JOBS.noneMatch} cli={listCommand(filter)} />;
  return <Empty text={JOBS.noneYet} cli="queuectl enqueue 'echo hello'" />;
}
