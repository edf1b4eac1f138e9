import { part } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { useData } from '../frame/data.ts';
import { useKeys } from '../frame/keys.ts';
import { lazy } from '../frame/lazy.tsx';
import { draft, editing } from '../frame/overlays.ts';
import { go, place, withQuery } from '../frame/router.ts';
import { readOnly } from '../frame/store.ts';
import { actOnJob, isPossible, promote, VERBS, type Verb } from '../jobs/acts.ts';
import { draftOf } from '../jobs/draft.ts';
import { OutputView } from '../output/output-view.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Missing, Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { duration, plural, sentence, visible } from '../parts/format.ts';
import { Ago, Since, Time } from '../parts/time.tsx';
import { togglePaused } from '../queues/queue-acts.ts';
import {
  type Attempt,
  attemptsUsed,
  type Children,
  type Explanation,
  type Job,
  type StoreEvent,
} from '../types.ts';
import { JOB } from '../words/job.ts';
import { ACTIONS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { Attempts } from './attempts.tsx';
import { Spec } from './spec.tsx';
import { StateMark } from './state.tsx';
import { Timeline } from './timeline.tsx';
import { Waiting } from './waiting.tsx';

const Related = lazy((pages) => pages.Related);
const JobEvents = lazy((pages) => pages.JobEvents);

const TABS = Object.entries(JOB.tabs);

export function JobPage({ id }: { id: string }) {
  const path = `/jobs/${part(id)}`;
  const mine = ({ job_id }: StoreEvent): boolean => job_id === id;
  const job = useData<Job>(path, { on: mine });
  const attempts = useData<Attempt[]>(`${path}/attempts`, { on: mine });
  // The reasons depend on other jobs, queues and workers, so every event reads them again.
  const why = useData<Explanation>(`${path}/explain`);
  const tab = place.value.query.get('tab') ?? (place.value.hash.match(/^#[LB]\d/) ? 'output' : 'timeline');
  const all = attempts.value ?? [];
  const ordinal = Number(place.value.query.get('attempt')) || all.at(-1)?.attempt || null;
  const toAttempt = (by: number): void => {
    const next = all.find(({ attempt }) => attempt === (ordinal ?? 0) + by);
    if (next !== undefined) go(withQuery({ attempt: String(next.attempt), tab: 'output' }), 'replace');
  };
  const act = (verb: Verb): void => {
    if (job.value !== null && !readOnly.value && isPossible(verb, job.value)) void run(verb, job.value);
  };
  useKeys({
    r: () => act('retry'),
    c: () => act('cancel'),
    '#': () => act('delete'),
    e: () => {
      if (job.value !== null && !readOnly.value && waits(job.value)) editing.value = job.value;
    },
    d: () => {
      if (job.value !== null && !readOnly.value) draft.value = draftOf(job.value);
    },
    p: () => {
      if (job.value !== null) togglePaused(job.value.queue);
    },
    l: () => go(withQuery({ tab: 'output' }), 'replace'),
    '[': () => toAttempt(-1),
    ']': () => toAttempt(1),
    Escape: () => history.back(),
  });

  if (job.value === null && job.problem?.status === 404)
    return <Missing text={JOB.missing(visible(id))} cli="queuectl list" href="/jobs" link={JOB.all} />;
  if (job.value === null) return job.problem === null ? null : <Trouble problem={job.problem} />;
  return (
    <section aria-label={JOB.label(id)}>
      <Header job={job.value} why={why.value} />
      <nav class="tabs" aria-label={JOB.sections}>
        {TABS.map(([one, title]) => (
          <a key={one} href={withQuery({ tab: one })} aria-current={one === tab ? 'true' : undefined}>
            {title}
            {one === 'attempts' && all.length > 1 ? <span class="count">{all.length}</span> : null}
          </a>
        ))}
      </nav>
      {tab === 'timeline' ? <Timeline job={job.value} attempts={all} /> : null}
      {tab === 'attempts' ? <Attempts job={job.value} attempts={all} /> : null}
      {tab === 'output' ? (
        <OutputView key={`${id} ${ordinal}`} job={job.value} attempts={all} ordinal={ordinal} />
      ) : null}
      {tab === 'spec' ? <Spec job={job.value} /> : null}
      {tab === 'related' ? <Related job={job.value} /> : null}
      {tab === 'events' ? <JobEvents id={id} /> : null}
      {tab === 'json' ? <Json job={job.value} /> : null}
    </section>
  );
}

const waits = (job: Job): boolean => job.state === 'pending' || job.state === 'failed';

async function run(verb: Verb, job: Job): Promise<void> {
  if ((await actOnJob(verb, job)) && verb === 'delete') go('/jobs');
}

function Header({ job, why }: { job: Job; why: Explanation | null }) {
  return (
    <header class="job">
      <div class="job-line">
        <StateMark state={job.state} />
        <Waiting job={{ ...job, waiting_for: why?.waiting_for ?? job.waiting_for }} />
        <h1>{job.id}</h1>
        {job.name === null ? null : <span class="name">{visible(job.name)}</span>}
        <CopyButton text={command('show', job.id)} label={SHARED.copyAsCli} />
        <span class="grow" />
        {readOnly.value ? null : <Actions job={job} why={why} />}
      </div>
      <pre class="job-command">
        <code>{visible(job.command)}</code>
        <CopyButton text={job.command} label={SHARED.copyCommand} />
      </pre>
      <p class="facts">
        <span>
          <Fill
            text={JOB.queue}
            queue={<a href={`/jobs?queue=${part(job.queue)}`}>{visible(job.queue)}</a>}
          />
        </span>
        <span>{JOB.priority(job.priority)}</span>
        <span>
          {(job.state === 'processing' ? JOB.runningAttempt : JOB.attempts)(
            attemptsUsed(job),
            Math.max(1, job.max_retries),
          )}
        </span>
        {job.exit_code === null ? null : <span>{JOB.exitCode(job.exit_code, job.signal)}</span>}
        {job.duration_ms === null ? null : <span>{JOB.runTime(duration(job.duration_ms))}</span>}
        {job.state !== 'processing' || job.started_at === null ? null : (
          <span>
            <Fill text={JOB.running} time={<Since at={job.started_at} />} />
          </span>
        )}
        <ChildrenFact id={job.id} />
        <span>
          <Fill text={JOB.enqueued} when={<Ago at={job.created_at} />} />
        </span>
        {Object.entries(job.tags).map(([key, value]) => (
          <a key={key} class="tag" href={`/jobs?tag=${part(`${key}=${value}`)}`}>
            {visible(`${key}=${value}`)}
          </a>
        ))}
      </p>
      {why === null ? null : (
        <ul class={`why state-${job.state}`} aria-label={JOB.why}>
          {why.reasons.map((reason) => (
            <Reason key={reason} reason={reason} due={job.next_run_at} />
          ))}
        </ul>
      )}
    </header>
  );
}

/** Shows how many jobs wait for this one, with a link to them. */
function ChildrenFact({ id }: { id: string }) {
  const { value } = useData<Children>(`/jobs/${part(id)}/children`, { gapMs: 5000 });
  const waiting = value?.children.filter((child) => child.waiting).length ?? 0;
  if (value === null || waiting === 0) return null;
  const capped = value.total > value.children.length;
  return (
    <a href={withQuery({ tab: 'related' })}>
      {JOB.children(`${plural(waiting, 'job').replace(' ', capped ? '+ ' : ' ')}`)}
    </a>
  );
}

/** Matches a reason that ends with the time until the next run. The page counts it down. */
const COUNTDOWN = /^((?:the job is due|retry|(?:the )?last attempt)\b[^:]*?) in \d/i;

/** Matches the sentence about a running job, with its start. The page counts the time since then. */
const RUNNING = /^(the job (?:has been running.*|started)) (?:for ([^,]+), since|[^,]+ ago, at) (\S+Z)(.*)$/;

/** Matches an exact time, which is shown in the time zone of the user. */
const ISO = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Returns true for a valid time. The output of a job may contain text that only looks like one. */
const isTime = (text: string): boolean => ISO.test(text) && !Number.isNaN(Date.parse(text));

function Reason({ reason, due }: { reason: string; due: string | null }) {
  const [, before, ran, start, after] = RUNNING.exec(reason) ?? [];
  if (start !== undefined && isTime(start))
    return (
      <li>
        <Fill
          text={ran === undefined ? JOB.startedBefore : JOB.runningSince}
          before={sentence(visible(before!))}
          time={ran === undefined ? <Ago at={start} /> : <Since at={start} />}
          start={<Time at={start} />}
          after={visible(after!)}
        />
      </li>
    );
  const what = COUNTDOWN.exec(reason)?.[1];
  if (what === undefined || due === null)
    return (
      <li>
        {sentence(reason)
          .split(ISO)
          .map((text, i) => (isTime(text) ? <Time key={i} at={text} /> : visible(text)))}
      </li>
    );
  return (
    <li>
      {sentence(what)} <Ago at={due} />
    </li>
  );
}

/** Returns true if the job is due later. The server decides, because the clock of the browser may be wrong. */
const isDueLater = (reason: string, { next_run_at }: Job): boolean =>
  /^the job is due in\b/i.test(reason) || (next_run_at !== null && reason.includes(next_run_at));

function Actions({ job, why }: { job: Job; why: Explanation | null }) {
  const reasons = why?.reasons ?? [];
  const held = (why ?? job).waiting_for === 'held';
  const sensible = (verb: Verb): boolean => isPossible(verb, job) && verb !== (held ? 'hold' : 'release');
  return (
    <div class="buttons">
      {VERBS.filter(sensible).map((verb) => (
        <button
          key={verb}
          type="button"
          class={verb === 'delete' ? 'small danger-text' : 'small'}
          onClick={() => void run(verb, job)}
        >
          {ACTIONS[verb].label}
        </button>
      ))}
      {job.state === 'pending' && reasons.some((one) => isDueLater(one, job)) ? (
        <button type="button" class="small" onClick={() => void promote(job.id)}>
          {SHARED.runNow}
        </button>
      ) : null}
      {waits(job) ? (
        <button
          type="button"
          class="small"
          onClick={() => {
            editing.value = job;
          }}
        >
          {SHARED.edit}
        </button>
      ) : null}
      <button
        type="button"
        class="small"
        onClick={() => {
          draft.value = draftOf(job);
        }}
      >
        {JOB.duplicate}
      </button>
    </div>
  );
}

function Json({ job }: { job: Job }) {
  const text = JSON.stringify(job, null, 2);
  return (
    <div class="panel">
      <CopyButton text={text} label={JOB.copyJson} word={JOB.copy} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached from the keyboard */}
      <pre class="json" tabIndex={0}>
        {visible(text)}
      </pre>
    </div>
  );
}
