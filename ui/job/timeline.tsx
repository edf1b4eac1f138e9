import { now } from '../frame/store.ts';
import { Fill } from '../parts/fill.tsx';
import { duration } from '../parts/format.ts';
import { Ago, Time } from '../parts/time.tsx';
import type { Attempt, Job } from '../types.ts';
import { TIMELINE } from '../words/job.ts';
import { type Span, spansOf } from './spans.ts';
import { Steps } from './steps.tsx';
import { Waiting } from './waiting.tsx';

/** Draws the life of a job to scale. */
export function Timeline({ job, attempts }: { job: Job; attempts: Attempt[] }) {
  const moving = ['pending', 'processing', 'failed'].includes(job.state);
  const spans = spansOf(job, attempts, moving ? now.value : Date.parse(job.updated_at));
  const from = spans[0]?.from ?? Date.parse(job.created_at);
  const to = spans.at(-1)?.to ?? from;
  const whole = Math.max(1, to - from);
  const kinds = [...new Set(spans.map(({ kind }) => kind))];
  const sum = (kind: string): number =>
    spans.filter((span) => span.kind === kind).reduce((ms, span) => ms + span.to - span.from, 0);
  return (
    <div class="timeline panel">
      <svg
        viewBox="0 0 1000 28"
        preserveAspectRatio="none"
        role="img"
        aria-label={spans.map(words).join('; ')}
      >
        {spans.map((span) => {
          const x = ((span.from - from) / whole) * 1000;
          const width = Math.max(2, ((span.to - span.from) / whole) * 1000);
          const thin = span.kind === 'waiting' || span.kind === 'backoff' || span.kind === 'scheduled';
          return (
            <rect
              key={`${span.kind}${span.from}`}
              class={`span-${span.kind}`}
              x={Math.min(x, 1000 - width)}
              y={thin ? 10 : 2}
              width={width}
              height={thin ? 8 : 24}
            >
              <title>{words(span)}</title>
            </rect>
          );
        })}
      </svg>
      <p class="ends">
        <Time at={job.created_at} />
        <span>{TIMELINE.total(duration(whole))}</span>
        {job.waiting_for === 'scheduled' || job.waiting_for === 'retrying' ? (
          <span>
            <Fill text={TIMELINE.next} when={<Ago at={job.next_run_at} />} />
          </span>
        ) : job.waiting_for !== null ? (
          <Waiting job={job} />
        ) : (
          <Time at={new Date(to).toISOString()} />
        )}
      </p>
      <ul class="legend">
        {kinds.map((kind) => (
          <li key={kind} class={`legend-${kind}`}>
            {TIMELINE.kinds[kind]} <span class="number">{duration(sum(kind))}</span>
          </li>
        ))}
      </ul>
      <Steps spans={spans} />
    </div>
  );
}

const words = ({ label, from, to }: Span): string => `${label}, ${duration(to - from)}`;
