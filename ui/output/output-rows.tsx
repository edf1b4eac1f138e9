import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { place } from '../frame/router.ts';
import { number, size } from '../parts/format.ts';
import { OUTPUT } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';
import type { Piece } from './ansi.ts';
import { hashOf, type Row } from './output-lines.ts';

const HEIGHT = 18;
const MORE = 20;
const GUTTER = 72;

interface OutputRowsProps {
  rows: Row[];
  follow: Signal<boolean>;
  /** The number of characters that fit into a row, for wrapping. */
  columns: Signal<number>;
  mark: number | null;
  /** Changes when the marked row is to be shown again. */
  step: number;
  needle: string;
  /** Increases when the output is to be shown from its start. */
  opened: number;
  /** Load more lines at an end of the output. They return how many lines were added or dropped at the beginning. */
  onTop(): Promise<number>;
  onBottom(): Promise<number>;
}

/** Shows rows of output. Only the visible ones are in the document, however many there are. */
export function OutputRows({
  rows,
  follow,
  columns,
  mark,
  step,
  needle,
  opened,
  onTop,
  onBottom,
}: OutputRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  /** The position at the last scroll, by the user or by this component. Scroll events come later, and several become one. */
  const last = useRef(0);
  const load = useRef<'idle' | 'busy' | 'again'>('idle');
  const scrollTo = (position: number): void => {
    box.current!.scrollTop = position;
    last.current = box.current!.scrollTop;
  };
  /** Stops following if the user has scrolled up. */
  const unfollow = (place: HTMLElement): void => {
    if (place.scrollTop < last.current - 1 && !atEnd(place)) follow.value = false;
  };
  useEffect(() => {
    const place = box.current!;
    const measure = (): void => {
      height.value = place.clientHeight;
      // A larger box may have scrolled up by itself.
      last.current = Math.min(last.current, place.scrollTop);
      const letter = place.querySelector('.measure')!.getBoundingClientRect().width / 10;
      columns.value = Math.floor((place.clientWidth - GUTTER - 16) / Math.max(4, letter));
    };
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(place);
    return () => sized.disconnect();
  }, []);
  useLayoutEffect(() => {
    // The scroll event of the user may not have arrived yet.
    unfollow(box.current!);
    if (follow.value) scrollTo(box.current!.scrollHeight);
  });
  useLayoutEffect(() => {
    if (opened > 0) scrollTo(0);
  }, [opened]);
  useLayoutEffect(() => {
    if (mark !== null) scrollTo(Math.max(0, mark * HEIGHT - height.value / 2));
  }, [mark, step]);

  const loadMore = async (place: HTMLElement): Promise<void> => {
    if (place.scrollTop < HEIGHT) {
      const added = await onTop();
      if (added > 0) scrollTo(place.scrollTop + added * HEIGHT);
    } else if (!follow.value && atEnd(place)) {
      const dropped = await onBottom();
      if (dropped > 0) scrollTo(place.scrollTop - dropped * HEIGHT);
    }
  };
  /** Loads lines if an end is in view. If the user scrolls meanwhile, it looks once more. */
  const more = async (place: HTMLElement): Promise<void> => {
    const idle = load.current === 'idle';
    load.current = idle ? 'busy' : 'again';
    if (!idle) return;
    try {
      await loadMore(place);
    } catch {
      // Nothing is reported here. Scrolling again retries it.
    }
    const again = load.current === 'again';
    load.current = 'idle';
    if (again && place.isConnected) await more(place);
  };
  const onScroll = (event: Event): void => {
    const place = event.currentTarget as HTMLElement;
    unfollow(place);
    last.current = place.scrollTop;
    top.value = place.scrollTop;
    void more(place);
  };

  const first = Math.max(0, Math.floor(top.value / HEIGHT) - MORE);
  const shown = rows.slice(first, first + Math.ceil(height.value / HEIGHT) + 2 * MORE);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached from the keyboard
    <section ref={box} class="rows" tabIndex={0} aria-label={SHARED.output} onScroll={onScroll}>
      <span class="measure" aria-hidden="true">
        0000000000
      </span>
      <div class="all-rows" style={{ height: `${rows.length * HEIGHT}px` }}>
        <div class="seen-rows" style={{ transform: `translateY(${first * HEIGHT}px)` }}>
          {shown.map((row, i) => (
            <div key={first + i} class={first + i === mark ? 'row marked' : 'row'}>
              <Gutter row={row} />
              <code>{row.pieces.map((piece) => paint(piece, needle))}</code>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}

function atEnd(place: HTMLElement): boolean {
  return place.scrollTop + place.clientHeight >= place.scrollHeight - HEIGHT;
}

function Gutter({ row: { line, first } }: { row: Row }) {
  if (!first) return <span class="gutter" />;
  return (
    <a
      class="gutter"
      href={`${place.value.path}${location.search}${hashOf(line)}`}
      tabIndex={-1}
      title={OUTPUT.byte(number(line.offset))}
    >
      {line.number ?? size(line.offset)}
    </a>
  );
}

function paint({ text, look }: Piece, needle: string) {
  const parts = needle === '' ? [text] : splitAt(text, needle);
  const inside = parts.map((part, i) => (i % 2 === 1 ? <mark key={`${i}${part}`}>{part}</mark> : part));
  return look === '' ? inside : <span class={look}>{inside}</span>;
}

/** Splits a text at the matches. Every second part is a match. */
function splitAt(text: string, needle: string): string[] {
  const parts: string[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + needle.length));
    from = at + needle.length;
  }
  return [...parts, text.slice(from)];
}
