import { startOperation } from '../acts.ts';
import { part } from '../api.ts';
import { ask } from '../asking.ts';
import { actCommand } from '../cli.ts';
import { Empty, Trouble } from '../components/empty.tsx';
import { Ago } from '../components/time.tsx';
import { useData } from '../data.ts';
import { number, plural, visible } from '../format.ts';
import { readOnly } from '../store.ts';
import type { ErrorGroup, ErrorGroups } from '../types.ts';

const SLOW_MS = 2000;
const TYPED_ABOVE = 100;

/** Dead jobs by what killed them: one decision for all that died of the same. */
export function DlqPage() {
  const found = useData<ErrorGroups>('/dlq/groups', {
    on: ({ kind }) => ['dead', 'retried', 'deleted', 'jobs-pruned'].includes(kind),
    gapMs: SLOW_MS,
  });
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const { groups, looked_at, capped } = found.value;
  return (
    <section aria-label="Dead letter queue">
      <h1 class="hidden">Dead letter queue</h1>
      {groups.length === 0 ? (
        <Empty text="No job is dead. Whatever used up its attempts would be here." cli="queuectl dlq list" />
      ) : (
        <p class="line">
          <span class="faint">
            {plural(looked_at, 'dead job')} in {plural(groups.length, 'group')}
            {capped ? '; only the newest are looked at' : ''}
          </span>
          <span class="grow" />
          <a class="button small" href="/jobs?state=dead">
            As a list
          </a>
        </p>
      )}
      {groups.map((group) => (
        <Group key={group.signature} {...group} />
      ))}
    </section>
  );
}

async function actOnGroup(action: 'retry' | 'delete', { signature, jobs }: ErrorGroup): Promise<void> {
  const yes = await ask({
    title: `${action === 'retry' ? 'Retry' : 'Delete'} ${plural(jobs, 'job')}?`,
    detail: `All dead jobs of this group: ${visible(signature)}`,
    cli: actCommand(action, {
      filter: new URLSearchParams({ state: 'dead', error: longestPart(signature) }),
    }),
    ...{ button: action === 'retry' ? 'Retry them' : 'Delete them', danger: action === 'delete' },
    word: action === 'delete' && jobs > TYPED_ABOVE ? String(jobs) : null,
  });
  if (yes) await startOperation({ action, group: signature });
}

/** What all errors of the group contain, so that a filter finds them. */
const longestPart = (signature: string): string =>
  signature
    .split('…')
    .map((part) => part.trim())
    .reduce((a, b) => (b.length > a.length ? b : a));

function Group(group: ErrorGroup) {
  const { signature, jobs, sample_id, sample_error, names, queues } = group;
  return (
    <article class="group">
      <header>
        <span class="value">{number(jobs)}</span>
        <h2>{visible(signature)}</h2>
        {readOnly.value ? null : (
          <span class="buttons">
            <button type="button" class="small" onClick={() => void actOnGroup('retry', group)}>
              Retry all
            </button>
            <button type="button" class="small danger-text" onClick={() => void actOnGroup('delete', group)}>
              Delete all
            </button>
          </span>
        )}
      </header>
      <p class="sample">{visible(sample_error)}</p>
      <p class="facts">
        <span>
          1 h <b>{number(group.last_hour)}</b>
        </span>
        <span>
          24 h <b>{number(group.last_day)}</b>
        </span>
        <span>
          7 d <b>{number(group.last_week)}</b>
        </span>
        <span>
          first <Ago at={group.first_at} />
        </span>
        <span>
          last <Ago at={group.last_at} />
        </span>
        <span>
          such as <a href={`/jobs/${part(sample_id)}`}>{sample_id}</a>
        </span>
        {names.length === 0 ? null : <span>{names.map(visible).join(', ')}</span>}
        <span>in {queues.map(visible).join(', ')}</span>
      </p>
    </article>
  );
}
