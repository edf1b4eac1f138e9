import type { ComponentChildren } from 'preact';
import { visible } from '../format.ts';
import { readOnly } from '../store.ts';
import { SHARED } from '../words/shared.ts';
import { Fill } from './fill.tsx';
import { Ago } from './time.tsx';

interface HeadProps {
  title: string;
  /** Beside the title. */
  tags?: ComponentChildren;
  /** Buttons that change something: not there on a server that is read-only. */
  children?: ComponentChildren;
}

/** The head of a page about one thing. */
export function Head({ title, tags, children }: HeadProps) {
  return (
    <header class="head">
      <h1>{visible(title)}</h1>
      {tags}
      <span class="grow" />
      {readOnly.value ? null : <span class="buttons">{children}</span>}
    </header>
  );
}

interface Pausable {
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
}

/** With who did it: whoever wonders why nothing runs wants to ask them. */
export function PausedTag({ paused, paused_at, paused_by }: Pausable) {
  if (!paused) return null;
  return (
    <span class="tag warn">
      <Fill
        text={SHARED.pausedBy}
        when={<Ago at={paused_at} />}
        who={visible(paused_by ?? SHARED.unknownUser)}
      />
    </span>
  );
}
