import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { duration, percent, sentence, size, visible } from '../parts/format.ts';
import { Time } from '../parts/time.tsx';
import type { Job, RetryDelays, StoreEvent } from '../types.ts';
import { SPEC } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';

/** Shows how the job was defined. */
export function Spec({ job }: { job: Job }) {
  const delays = useData<RetryDelays>(`/jobs/${part(job.id)}/retries`, { on: mayChange });
  const rows: [string, string | null][] = [
    [SHARED.command, job.command],
    [SPEC.arguments, job.argv === null ? null : JSON.stringify(job.argv)],
    [SHARED.workingDirectory, job.cwd],
    [SHARED.timeout, job.timeout_ms === null ? SHARED.none : duration(job.timeout_ms)],
    [SHARED.maxAttempts, String(job.at_most_once ? 1 : Math.max(1, job.max_retries))],
    [SPEC.backoff, backoff(job)],
    [SPEC.retryDelays, delays.value === null ? null : waits(delays.value)],
    [SPEC.retryOn, job.retry_on?.join(', ') ?? null],
    [SPEC.noRetryOn, job.no_retry_on?.join(', ') ?? null],
    [SPEC.atMostOnce, job.at_most_once ? SPEC.atMostOnceYes : null],
    [SPEC.uniqueKey, job.unique_key],
    [SPEC.onComplete, job.on_complete],
    [SPEC.onFailure, job.on_failure],
    [SPEC.onDead, job.on_dead],
    [SPEC.stdin, job.stdin_bytes > 0 ? size(job.stdin_bytes) : null],
    [SHARED.output, job.split_output ? SPEC.separateStreams : null],
    [SPEC.secrets, job.secret_env.join(', ') || null],
    [SPEC.cleanEnvironment, job.clean_env ? SHARED.yes : null],
    [SPEC.crashes, job.crashes > 0 ? String(job.crashes) : null],
  ];
  return (
    <div class="panel">
      <dl class="spec">
        {rows
          .filter(([, value]) => value !== null)
          .map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <code>{visible(value!)}</code>
              </dd>
            </div>
          ))}
        {job.run_at === null ? null : (
          <div>
            <dt>{SPEC.runAt}</dt>
            <dd>
              <Time at={job.run_at} />
            </dd>
          </div>
        )}
        {Object.entries(job.env).map(([key, value]) => (
          <div key={key}>
            <dt>{visible(key)}</dt>
            <dd>
              <code>{SECRET.test(key) ? SPEC.hidden : visible(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Hides values from people who see the screen. A user with the token can still read them. */
const SECRET = /token|secret|passw|api_?key|credential/i;

function backoff(job: Job): string | null {
  const parts = [
    job.backoff,
    job.backoff_base === null ? null : SPEC.base(job.backoff_base),
    job.retry_delay_ms === null ? null : SPEC.delay(duration(job.retry_delay_ms)),
    job.backoff_max_ms === null ? null : SPEC.max(duration(job.backoff_max_ms)),
    job.jitter === null ? null : SPEC.jitter(job.jitter),
  ].filter((part) => part !== null);
  return parts.length === 0 ? sentence(SHARED.fromSettings) : parts.join(', ');
}

const mayChange = ({ kind }: StoreEvent): boolean => kind === 'edited' || kind.startsWith('setting-');

/** Lists the delays and their sum: `2s, 4s, 8s (14s in total)`. */
function waits({ delays_ms, jitter }: RetryDelays): string {
  if (delays_ms.length === 0) return SPEC.noRetry;
  const sum = delays_ms.reduce((a, b) => a + b, 0);
  const text = SPEC.delays(delays_ms.map(duration).join(', '), duration(sum));
  return jitter > 0 ? text + SPEC.reduced(percent(jitter)) : text;
}
