import { withQuery } from '../frame/router.ts';
import { duration } from '../parts/format.ts';
import { Time } from '../parts/time.tsx';
import type { Span } from './spans.ts';

/** Lists the steps in the life of a job. */
export function Steps({ spans }: { spans: Span[] }) {
  return (
    <ol class="steps">
      {spans.map((span) => (
        <li key={`${span.kind}${span.from}`} class={`legend-${span.kind}`}>
          <Time at={new Date(span.from).toISOString()} />
          <span class="grow">
            {span.attempt === null ? (
              span.label
            ) : (
              <a href={withQuery({ tab: 'output', attempt: String(span.attempt) })}>{span.label}</a>
            )}
          </span>
          <span class="number">{duration(span.to - span.from)}</span>
        </li>
      ))}
    </ol>
  );
}
