import { type Signal, useSignal } from '@preact/signals';
import { command } from '../frame/cli.ts';
import { go, withQuery } from '../frame/router.ts';
import { CopyButton } from '../parts/copy.tsx';
import { number, percent, size } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { notify, notifyError } from '../parts/toasts.ts';
import type { Attempt, Job } from '../types.ts';
import { OUTPUT } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';
import { LOOKED_AT, type OutputWindow } from './output.ts';
import { hashOf } from './output-lines.ts';
import type { Stream } from './output-view.tsx';

interface OutputToolsProps {
  job: Job;
  attempts: Attempt[];
  ordinal: number;
  /** Null if stdout and stderr are one stream. */
  stream: Stream | null;
  output: OutputWindow;
  follow: Signal<boolean>;
  wrap: Signal<boolean>;
  query: Signal<string>;
  /** The match that is shown, as any number. It wraps around. */
  found: Signal<number>;
  /** Increases when the output is to be shown from its start. */
  fromTop: Signal<number>;
  hit: { at: number; of: number } | null;
}

export function OutputTools(props: OutputToolsProps) {
  const { job, attempts, ordinal, stream, output, follow, wrap, fromTop } = props;
  return (
    <div class="line">
      {attempts.length < 2 ? null : <Which attempts={attempts} ordinal={ordinal} />}
      {stream === null ? null : <Streams stream={stream} />}
      <Search {...props} />
      <span class="grow" />
      <span class="faint number">{size(output.state.value.size)}</span>
      <Toggle on={follow} label={OUTPUT.follow} />
      <Toggle on={wrap} label={OUTPUT.wrap} />
      <button
        type="button"
        class="small"
        onClick={() => {
          follow.value = false;
          output.openAt(0).then(() => {
            fromTop.value++;
          }, notifyError);
        }}
      >
        {OUTPUT.start}
      </button>
      <button
        type="button"
        class="small"
        onClick={() => {
          follow.value = true;
          output.openEnd().catch(notifyError);
        }}
      >
        {OUTPUT.end}
      </button>
      <button type="button" class="small" onClick={() => void firstError(props)}>
        {OUTPUT.firstError}
      </button>
      <Download output={output} name={`${job.id}.${ordinal}.log`} />
      <CopyButton
        text={command('logs', job.id, '--attempt', String(ordinal))}
        label={SHARED.copyAsCli}
        word={OUTPUT.cli}
      />
    </div>
  );
}

/** Matches words that programs print when something goes wrong. */
const WRONG = /error|fatal|fail|panic|exception|traceback|cannot|denied|not found/i;

async function firstError({ output, follow, stream }: OutputToolsProps): Promise<void> {
  // If the streams are separate, the first line of stderr counts as the first error.
  if (stream === 'stdout') return go(withQuery({ stream: 'stderr' }));
  follow.value = false;
  try {
    const line = await output.openFirst(stream === null ? WRONG : /\S/);
    const { next, size: all } = output.state.value;
    if (line === null) notify(next < all ? OUTPUT.noErrorWithin(size(LOOKED_AT)) : OUTPUT.noError);
    else go(withQuery({}) + hashOf(line), 'replace');
  } catch (error) {
    notifyError(error);
  }
}

const SHOWN = 10;

function Which({ attempts, ordinal }: { attempts: Attempt[]; ordinal: number }) {
  return (
    <span class="attempts">
      {OUTPUT.attempt}
      {attempts.slice(-SHOWN).map(({ attempt }) => (
        <a
          key={attempt}
          href={withQuery({ tab: 'output', attempt: String(attempt) })}
          aria-current={attempt === ordinal ? 'true' : undefined}
        >
          {attempt}
        </a>
      ))}
    </span>
  );
}

function Streams({ stream }: { stream: Stream }) {
  return (
    <span class="attempts">
      {(['stdout', 'stderr'] as const).map((one) => (
        <a key={one} href={withQuery({ stream: one })} aria-current={one === stream ? 'true' : undefined}>
          {one}
        </a>
      ))}
    </span>
  );
}

function Search({ query, found, follow, hit }: OutputToolsProps) {
  return (
    <>
      <input
        class="small"
        data-search
        aria-label={OUTPUT.search}
        placeholder={OUTPUT.searchHint}
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          found.value = 0;
          follow.value = false;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            found.value += event.shiftKey ? -1 : 1;
            follow.value = false;
          }
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      {hit === null ? null : (
        <span class="faint number" aria-live="polite">
          {hit.of === 0 ? OUTPUT.noMatch : OUTPUT.match(number(hit.at + 1), number(hit.of))}
        </span>
      )}
    </>
  );
}

function Toggle({ on, label }: { on: Signal<boolean>; label: string }) {
  return (
    <button
      type="button"
      class="small toggle"
      aria-pressed={on.value}
      onClick={() => {
        on.value = !on.value;
      }}
    >
      {label}
    </button>
  );
}

/** Downloads the output by a request, because a plain link does not send the session. */
function Download({ output, name }: { output: OutputWindow; name: string }) {
  const part = useSignal<number | null>(null);
  const save = async (): Promise<void> => {
    try {
      const blob = await output.download((done) => {
        part.value = done;
      });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      notifyError(error);
    }
    part.value = null;
  };
  return (
    <button type="button" class="small" disabled={part.value !== null} onClick={() => void save()}>
      <Icon name="download" />
      {part.value === null ? OUTPUT.download : percent(part.value)}
    </button>
  );
}
