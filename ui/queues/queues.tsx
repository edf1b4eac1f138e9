import { endedAttempts, failedAttempts, useSeries } from '../figures/series.ts';
import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { focusedRow, useKeys } from '../frame/keys.ts';
import { limiting } from '../frame/overlays.ts';
import { queues, readOnly } from '../frame/store.ts';
import { Empty } from '../parts/empty.tsx';
import { number, plural, visible } from '../parts/format.ts';
import { PausedTag } from '../parts/head.tsx';
import { rowLook, ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import { NumberCell, right, Table } from '../parts/table-box.tsx';
import { Since } from '../parts/time.tsx';
import {
  type Figures,
  type NamedFigures,
  type Queue,
  REASONS,
  type Reason,
  type State,
  type WaitingCount,
} from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { QUEUES } from '../words/queues.ts';
import { SHARED } from '../words/shared.ts';
import { setPaused } from './queue-acts.ts';

const REASONS_MS = 2000;
/** Reasons that need no note: such a job starts soon, or the tag of a paused queue tells it. */
const UNREMARKABLE: Reason[] = ['ready', 'queue_paused'];

export function QueuesPage() {
  const hour = useSeries('1h', { names: true });
  const day = useSeries('24h', { names: true });
  const waiting = useData<WaitingCount[]>('/waiting', { gapMs: REASONS_MS });
  useKeys({
    p: () => {
      const found = queues.value?.find(({ name }) => name === focusedRow());
      if (found !== undefined && !readOnly.value) void setPaused(found.name, !found.paused);
    },
  });
  const list = useSteady('queues', queues.value ?? [], ({ name }) => name);
  if (queues.value === null) return null;
  if (queues.value.length === 0)
    return <Empty text={QUEUES.none} cli="queuectl enqueue 'echo hello' --queue mail" />;
  return (
    <section aria-label={PAGE_TITLES.queues} {...list.box}>
      <h1 class="hidden">{PAGE_TITLES.queues}</h1>
      <p class="line">
        <span class="faint">{plural(queues.value.length, 'queue')}</span>
        <ShowNew of={list} noun="queue" />
      </p>
      <Table
        look="queues"
        heads={[
          SHARED.queue,
          right(SHARED.waiting),
          right(SHARED.running),
          right(QUEUES.maxConcurrent),
          right(QUEUES.rateLimit),
          right(SHARED.retrying),
          right(SHARED.oldestWaiting),
          right(QUEUES.enqueuedHour),
          right(QUEUES.attemptsHour),
          right(SHARED.attemptsFailedToday),
          right(SHARED.dead),
          readOnly.value ? null : SHARED.actions,
        ]}
      >
        {list.rows.map((queue) => (
          <Row
            key={queue.name}
            queue={queue}
            hour={hour.value?.names ?? []}
            day={day.value?.names ?? []}
            waiting={waiting.value?.find((one) => one.queue === queue.name)?.jobs}
            isGone={list.gone.has(queue.name)}
          />
        ))}
      </Table>
    </section>
  );
}

const sum = (names: NamedFigures[], queue: string, of: (one: Figures) => number): number =>
  names.filter((one) => one.queue === queue).reduce((all, one) => all + of(one), 0);

interface RowProps {
  queue: Queue;
  hour: NamedFigures[];
  day: NamedFigures[];
  waiting: WaitingCount['jobs'] | undefined;
  isGone: boolean;
}

function Row({ queue, hour, day, waiting, isGone }: RowProps) {
  const { name, paused, concurrency, rate, oldest_waiting_at: oldest } = queue;
  return (
    <tr data-row={name} {...rowLook(isGone)}>
      <td>
        <a class="id" href={`/queues/${part(name)}`}>
          {visible(name)}
        </a>
        <span class="queue-notes">
          <PausedTag {...queue} />
          <Reasons queue={queue} counts={waiting} />
        </span>
      </td>
      <Count queue={queue} state="pending" label={SHARED.waiting} />
      <Count queue={queue} state="processing" label={SHARED.running} />
      <NumberCell label={QUEUES.maxConcurrent}>
        {concurrency === null ? <span class="faint">{SHARED.none}</span> : number(concurrency)}
      </NumberCell>
      <NumberCell label={QUEUES.rateLimit}>{rate ?? <span class="faint">{SHARED.none}</span>}</NumberCell>
      <Count queue={queue} state="failed" label={SHARED.retrying} />
      <NumberCell label={SHARED.oldestWaiting}>
        {oldest === null ? <span class="faint">–</span> : <Since at={oldest} />}
      </NumberCell>
      <NumberCell label={QUEUES.enqueuedHour}>
        {number(sum(hour, name, ({ enqueued }) => enqueued))}
      </NumberCell>
      <NumberCell label={QUEUES.attemptsHour}>{number(sum(hour, name, endedAttempts))}</NumberCell>
      <NumberCell label={SHARED.attemptsFailedToday}>{number(sum(day, name, failedAttempts))}</NumberCell>
      <Count queue={queue} state="dead" label={SHARED.dead} />
      {readOnly.value ? null : (
        <td class="wide">
          <span class="buttons">
            <button type="button" class="small" onClick={() => void setPaused(name, !paused)}>
              {paused ? SHARED.resume : SHARED.pause}
            </button>
            <button
              type="button"
              class="small"
              onClick={() => {
                limiting.value = queue;
              }}
            >
              {QUEUES.limits}
            </button>
          </span>
        </td>
      )}
    </tr>
  );
}

/** Shows why the jobs of a queue wait, with their number. A paused queue has a tag of its own. */
function Reasons({ queue: { name }, counts }: { queue: Queue; counts: WaitingCount['jobs'] | undefined }) {
  if (counts === undefined) return null;
  return REASONS.filter((reason) => !UNREMARKABLE.includes(reason) && counts[reason] > 0).map((reason) => (
    <a
      key={reason}
      class={reason === 'no_worker' ? 'tag warn' : 'tag'}
      href={`/jobs?queue=${part(name)}&waiting_for=${reason}`}
    >
      {SHARED.reasons[reason]}
      <span class="count">{number(counts[reason])}</span>
    </a>
  ));
}

function Count({ queue: { name, jobs }, state, label }: { queue: Queue; state: State; label: string }) {
  return (
    <NumberCell label={label}>
      {jobs[state] === 0 ? (
        <span class="faint">0</span>
      ) : (
        <a href={`/jobs?queue=${part(name)}&state=${state}`}>{number(jobs[state])}</a>
      )}
    </NumberCell>
  );
}
