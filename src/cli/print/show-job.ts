import type { App } from '../../actions/app.ts';
import { toAttemptObject, withCurrentFacts } from '../../actions/jobs/attempts.ts';
import {
  childrenOf,
  countChildren,
  findJobId,
  getJobWithAttempts,
  jobObject,
  parentsOf,
  pidOf,
  toChildObject,
} from '../../actions/jobs/jobs.ts';
import { wrongStateError } from '../../actions/jobs/retry.ts';
import { isSuspended, processesOf } from '../../actions/jobs/signal-jobs.ts';
import { compareByOrder, fieldValue, KEPT_FIELDS } from '../../core/jobs/field-list.ts';
import type { Job, State } from '../../core/jobs/job.ts';
import { type JobWithReason, reasonText } from '../../core/jobs/waiting-reason.ts';
import { attemptsAllowed, attemptsUsed } from '../../core/rules/decide.ts';
import { maskUrls } from '../../core/text/mask.ts';
import { formatBytes, formatCount } from '../../core/text/numbers.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { formatDuration } from '../../core/time/duration.ts';
import type { Attempt, ParentState } from '../../store/contract/jobs.ts';
import type { Context } from '../frame/command.ts';
import { exitText } from './job-table.ts';
import { printJson } from './layout.ts';
import { fullTimesFor, type TimeFormat, timesFor } from './print-list.ts';
import { type Column, type Pair, printPairs, printTable } from './table.ts';
import { STATE_COLORS } from './text.ts';

/** Prints a job with all its attempts. Throws if it is not in the state `only`. */
export async function showJob(context: Context, reference: string, only?: State): Promise<undefined> {
  const { io } = context;
  const app = await context.app();
  const { job, attempts: stored } = await getJobWithAttempts(app, await findJobId(app, reference));
  if (only !== undefined && job.state !== only) throw wrongStateError(job.id, job.state, [only]);
  const attempts = withCurrentFacts(app, stored);
  if (io.json) {
    const object = {
      ...(await jobObject(app, job)),
      history: attempts.map(toAttemptObject),
      children: (await childrenOf(app, job.id)).map(toChildObject),
    };
    printJson(io, object);
    return;
  }
  const now = app.clock.now();
  const all = jobPairs(job, await readFacts(app, job, stored), fullTimesFor(io, now));
  printPairs(io, all, ([name, value]) => (name === 'state' ? STATE_COLORS[value] : undefined));
  if (attempts.length === 0) return;
  if (io.tty) io.out('\n');
  printTable(io, attemptColumns(timesFor(io, now)), attempts);
  for (const attempt of attempts) {
    if (attempt.leftBehind.length > 0)
      io.note(`attempt ${attempt.ordinal} left processes behind: ${attempt.leftBehind.join(', ')}`);
    if (attempt.outputFile !== null)
      io.note(
        `the output of attempt ${attempt.ordinal} is in ${attempt.outputFile} on the host ${attempt.otherHost}`,
      );
  }
}

/** Describes the parents that the job waits for, those that it no longer waits for, and what happens if one fails. */
function dependencyPairs(job: Job, parents: ParentState[]): Pair[] {
  const named = (open: boolean): string =>
    parents
      .filter((parent) => (parent.phase === 'open') === open)
      .map(({ id, on, state }) => `${id} (${on === 'ok' ? '' : `${on}, `}${state ?? 'gone'})`)
      .join(', ');
  const onParentFailure = job.dependsOn.length === 0 ? '' : (job.policy.onParentFailure ?? 'cancel');
  return [
    ['parents', named(true)],
    ['waited for', named(false)],
    ['on parent failure', onParentFailure],
  ];
}

/** `queuectl show` lists this many children of a job. JSON has all of them. */
const SHOWN_CHILDREN = 20;

/** Lists the jobs that depend on this one, with their states. */
async function childrenText(app: App, id: string): Promise<string> {
  const children = await childrenOf(app, id, SHOWN_CHILDREN + 1);
  const named = children
    .slice(0, SHOWN_CHILDREN)
    .map(({ id, on, state }) => `${id} (${on === 'ok' ? '' : `${on}, `}${state})`)
    .join(', ');
  if (children.length <= SHOWN_CHILDREN) return named;
  const more = (await countChildren(app, id, Number.MAX_SAFE_INTEGER)) - SHOWN_CHILDREN;
  return `${named} and ${formatCount(more)} more`;
}

/** Reads what is stored beside the job. `otherHost` is the host that runs the job, or ran it last, if it is another one. */
async function readFacts(app: App, job: Job, stored: Attempt[]) {
  return {
    parents: job.dependsOn.length === 0 ? [] : await parentsOf(app, job.id),
    children: await childrenText(app, job.id),
    suspended: job.state === 'processing' && isSuspended(await processesOf(app, job.id)),
    pid: await pidOf(app, job),
    otherHost: job.startedAt === null ? null : (stored.at(-1)?.otherHost ?? null),
  };
}

function jobPairs(
  job: JobWithReason,
  { parents, children, suspended, pid, otherHost }: Awaited<ReturnType<typeof readFacts>>,
  times: TimeFormat,
): Pair[] {
  // The due time is not shown if the job waits for another job, or is held past that time.
  const hidesDueTime = job.blocked || (job.held && (job.dueAt ?? times.now) <= times.now);
  const all: Pair[] = [
    ['id', job.id],
    ['name', job.name ?? ''],
    ['command', maskUrls(job.command)],
    ['state', job.state],
    ['waiting for', reasonText(job.waitingFor)],
    ['suspended', suspended ? `yes; to continue it: queuectl continue ${shellWord(job.id)}` : ''],
    ['held', job.held ? 'yes' : ''],
    ['queue', job.queue],
    ['priority', String(job.priority)],
    ['attempts', `${attemptsUsed(job)} of ${attemptsAllowed(job)}`],
    ['crashes', job.crashes === 0 ? '' : String(job.crashes)],
    ['created', times.text(job.createdAt)],
    ['due', hidesDueTime ? '' : times.text(job.dueAt)],
    ['started', times.text(job.startedAt)],
    ['finished', times.text(job.finishedAt)],
    ['worker', job.workerId ?? ''],
    ['host', otherHost ?? ''],
    ['pid', pid === null ? '' : String(pid)],
    ['exit code', job.exitCode === null ? '' : exitText(job)],
    ['last error', job.lastError ?? ''],
  ];
  const details: Pair[] = [
    ...SHOWN_FIELDS.map(
      ({ label, field, text }): Pair => [label, describeValue(fieldValue(job, field), text)],
    ),
    ['stdin', job.stdinBytes === 0 ? '' : formatBytes(job.stdinBytes)],
    ...dependencyPairs(job, parents),
    ['children', children],
  ];
  details.sort(([a], [b]) => compareLabels(a, b));
  return [...all, ...details].filter(([, value]) => value !== '');
}

const SHOWN_FIELDS = KEPT_FIELDS.flatMap((field) => {
  if (field.show === undefined) return [];
  const [label, text] = typeof field.show === 'string' ? [field.show, null] : field.show;
  return [{ field, label, text: text as ((value: unknown) => unknown) | null }];
});

/** Compares the labels of the details below the main facts. A label that is not listed here comes last. */
const compareLabels = compareByOrder(
  `timeout, backoff, retry delay, backoff max, jitter, backoff base, directory, environment, secrets, clean environment,
  stdin, output, tags, unique key, retry on, no retry on, at most once, parents, waited for, on parent failure, children,
  on complete, on failure, on dead`.split(/,\s+/),
);

/** Describes the value of a field after `convert`, if given. The text is empty if the value is not set or false. */
function describeValue(value: unknown, convert: ((value: unknown) => unknown) | null): string {
  if (value === undefined || value === null || value === false) return '';
  if (convert !== null) return describeValue(convert(value), null);
  if (value === true) return 'yes';
  if (typeof value !== 'object' || Array.isArray(value)) return String(value);
  return Object.entries(value)
    .map((pair) => pair.join('='))
    .join(' ');
}

function attemptColumns(times: TimeFormat): Column<Attempt>[] {
  return [
    { title: 'ATTEMPT', value: (one) => String(one.ordinal) },
    { title: 'STARTED', value: (one) => times.text(one.startedAt) },
    {
      title: 'DURATION',
      value: (one) => (one.durationMs === null ? '' : formatDuration(one.durationMs)),
      alignedValue: (one) => formatDuration(one.durationMs ?? times.now - one.startedAt),
    },
    { title: 'RESULT', value: (one) => one.why ?? 'running' },
    { title: 'EXIT', value: exitText },
    {
      title: 'OUTPUT',
      drop: 1,
      value: (one) => formatBytes(one.outputBytes) + (one.truncated ? ', truncated' : ''),
    },
    { title: 'WORKER', value: (one) => one.workerId, drop: 2 },
    { title: 'HOST', value: (one) => one.otherHost ?? '', drop: 2, alignedOnly: true },
    { title: 'ERROR', value: (one) => one.error ?? '', shrinks: true, least: 40 },
  ];
}
