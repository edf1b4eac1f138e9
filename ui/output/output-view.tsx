import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Problem } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { useKeys } from '../frame/keys.ts';
import { place } from '../frame/router.ts';
import { readFailed, readWorked } from '../frame/store-away.ts';
import { Empty } from '../parts/empty.tsx';
import { Icon } from '../parts/icon.tsx';
import { notify, notifyError } from '../parts/toasts.ts';
import type { Attempt, Job } from '../types.ts';
import { OUTPUT } from '../words/job.ts';
import { type OutputWindow, openOutput } from './output.ts';
import { type Row, rowsOf, textOf } from './output-lines.ts';
import { OutputRows } from './output-rows.tsx';
import { OutputTools } from './output-tools.tsx';

const LOOK_MS = 500;

export type Stream = 'stdout' | 'stderr';

interface OutputViewProps {
  job: Job;
  attempts: Attempt[];
  ordinal: number | null;
}

export function OutputView({ job, attempts, ordinal }: OutputViewProps) {
  if (ordinal === null) return <Empty text={OUTPUT.none} cli={command('logs', job.id, '-f')} />;
  const stream = !job.split_output
    ? null
    : place.value.query.get('stream') === 'stderr'
      ? 'stderr'
      : 'stdout';
  return <AttemptOutput key={stream} job={job} attempts={attempts} ordinal={ordinal} stream={stream} />;
}

function AttemptOutput({
  job,
  attempts,
  ordinal,
  stream,
}: OutputViewProps & { ordinal: number; stream: Stream | null }) {
  const output = useSignal<OutputWindow | null>(null);
  const { hash } = place.value;
  const follow = useSignal(!LINK.test(hash));
  const wrap = useSignal(false);
  const columns = useSignal(120);
  const query = useSignal('');
  const found = useSignal(0);
  const fromTop = useSignal(0);

  useEffect(() => {
    const opened = openOutput(job.id, ordinal, stream);
    output.value = opened;
    void keepUp(opened, hash, follow);
    return opened.end;
  }, []);
  useEffect(() => {
    if (output.value === null || !LINK.test(hash)) return;
    follow.value = false;
    query.value = '';
    const known = rowsOf(output.value.lines.value, null);
    if (known.length > 0 && linked(known, hash) === null)
      void openAt(output.value, hash, follow).catch(notifyError);
  }, [hash]);
  const needle = query.value.toLowerCase();
  const step = (by: number) => (): void => {
    found.value += by;
    follow.value = false;
  };
  useKeys({
    f: () => {
      follow.value = !follow.value;
    },
    ...(needle === '' ? {} : { n: step(1), N: step(-1) }),
  });

  if (output.value === null) return null;
  const { lines, state } = output.value;
  const attempt = attempts.find((one) => one.attempt === ordinal);
  const file = attempt?.output_file ?? null;
  const rows = rowsOf(lines.value, wrap.value ? columns.value : null);
  const hits = needle === '' ? [] : hitsOf(rows, needle);
  const at = hits.length === 0 ? -1 : ((found.value % hits.length) + hits.length) % hits.length;
  return (
    <div class="output">
      <OutputTools
        job={job}
        attempts={attempts}
        ordinal={ordinal}
        stream={stream}
        follow={follow}
        wrap={wrap}
        query={query}
        found={found}
        fromTop={fromTop}
        output={output.value}
        hit={needle === '' ? null : { at, of: hits.length }}
      />
      {state.value.truncated ? (
        <p class="banner">
          <Icon name="warning" />
          {OUTPUT.truncated}
        </p>
      ) : null}
      {file === null ? null : (
        <p class="banner">
          <Icon name="workers" />
          {OUTPUT.otherHost(file, attempt?.output_host ?? '')}
        </p>
      )}
      {state.value.over && state.value.size === 0 ? (
        <Empty text={OUTPUT.empty} />
      ) : (
        <OutputRows
          rows={rows}
          follow={follow}
          columns={columns}
          needle={needle}
          mark={hits[at] ?? linked(rows, hash)}
          step={found.value}
          opened={fromTop.value}
          onTop={output.value.older}
          onBottom={output.value.newer}
        />
      )}
    </div>
  );
}

/** Matches the hash of a link to a line, by its number or by its first byte. */
const LINK = /^#([LB])(\d+)$/;

function linked(rows: Row[], hash: string): number | null {
  const [, by, text] = LINK.exec(hash) ?? [];
  if (by === undefined) return null;
  const at = rows.findIndex(({ line }) => (by === 'L' ? line.number : line.offset) === Number(text));
  return at < 0 ? null : at;
}

async function openAt(output: OutputWindow, hash: string, follow: Signal<boolean>): Promise<void> {
  const [, by, text] = LINK.exec(hash) ?? [];
  if (by === 'B') return output.openAt(Number(text));
  if (by === 'L') {
    if (await output.openLine(Number(text))) return;
    notify(OUTPUT.noLine(text!));
    follow.value = true;
  }
  return output.openEnd();
}

function hitsOf(rows: Row[], needle: string): number[] {
  return rows.flatMap((row, i) => (row.first && textOf(row.line).toLowerCase().includes(needle) ? [i] : []));
}

/** Opens the output and follows it until the view is closed. Temporary failures are retried. */
async function keepUp(output: OutputWindow, hash: string, follow: Signal<boolean>): Promise<void> {
  let opened = false;
  for (;;) {
    const { over, next, size } = output.state.value;
    try {
      if (!opened) await openAt(output, hash, follow);
      else if (follow.value && !document.hidden && (!over || next < size)) await output.follow();
      opened = true;
      readWorked();
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      if (error instanceof Problem && error.lasting) return notifyError(error);
      if (error instanceof Problem) readFailed(error);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
