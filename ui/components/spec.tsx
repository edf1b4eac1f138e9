import { part } from '../api.ts';
import { useData } from '../data.ts';
import { duration, percent, visible } from '../format.ts';
import type { Job, RetryDelays, StoreEvent } from '../types.ts';
import { Time } from './time.tsx';

/** What the job was told: how it runs, when, and what becomes of it. */
export function Spec({ job }: { job: Job }) {
  const delays = useData<RetryDelays>(`/jobs/${part(job.id)}/retries`, { on: mayChange });
  const rows: [string, string | null][] = [
    ['Command', job.command],
    ['Words', job.argv === null ? null : JSON.stringify(job.argv)],
    ['Directory', job.cwd],
    ['Timeout', job.timeout_ms === null ? 'none' : duration(job.timeout_ms)],
    ['Executions in all', String(job.at_most_once ? 1 : Math.max(1, job.max_retries))],
    ['Backoff', backoff(job)],
    ['Waits', delays.value === null ? null : waits(delays.value)],
    ['Retry on exit codes', job.retry_on?.join(', ') ?? null],
    ['No retry on', job.no_retry_on?.join(', ') ?? null],
    ['At most once', job.at_most_once ? 'yes: queuectl starts it only once' : null],
    ['Unique key', job.unique_key],
    ['On completion', job.on_complete],
    ['On failure', job.on_failure],
    ['When given up', job.on_dead],
    ['Standard input', job.stdin_bytes > 0 ? `${job.stdin_bytes} bytes` : null],
    ['Output', job.split_output ? 'stdout and stderr apart' : null],
    ['Secrets, by name', job.secret_env.join(', ') || null],
    ['Clean environment', job.clean_env ? 'yes' : null],
    ['Crashes', job.crashes > 0 ? String(job.crashes) : null],
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
            <dt>Not before</dt>
            <dd>
              <Time at={job.run_at} />
            </dd>
          </div>
        )}
        {Object.entries(job.env).map(([key, value]) => (
          <div key={key}>
            <dt>{visible(key)}</dt>
            <dd>
              <code>{SECRET.test(key) ? '•••••• (it looks like a secret)' : visible(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Over somebody's shoulder, not against whoever holds the token. */
const SECRET = /token|secret|passw|api_?key|credential/i;

function backoff(job: Job): string | null {
  const parts = [
    job.backoff,
    job.backoff_base === null ? null : `base ${job.backoff_base}`,
    job.retry_delay_ms === null ? null : `delay ${duration(job.retry_delay_ms)}`,
    job.backoff_max_ms === null ? null : `at most ${duration(job.backoff_max_ms)}`,
    job.jitter === null ? null : `jitter ${job.jitter}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'by the settings' : parts.join(', ');
}

const mayChange = ({ kind }: StoreEvent): boolean => kind === 'edited' || kind.startsWith('setting-');

/** `2 s, 4 s, 8 s; 14 s in all`. */
function waits({ delays_ms, jitter }: RetryDelays): string {
  if (delays_ms.length === 0) return 'no retry';
  const sum = delays_ms.reduce((a, b) => a + b, 0);
  const less = jitter > 0 ? `; up to ${percent(jitter)} less, by chance` : '';
  return `${delays_ms.map(duration).join(', ')}; ${duration(sum)} in all${less}`;
}
