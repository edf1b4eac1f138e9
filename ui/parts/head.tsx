import type { ComponentChildren } from 'preact';
import { readOnly } from '../frame/store.ts';
import { SHARED } from '../words/shared.ts';
import { Fill } from './fill.tsx';
import { visible } from './format.ts';
import { Ago } from './time.tsx';

interface HeadProps {
  title: string;
  /** Shown beside the title. */
  tags?: ComponentChildren;
  /** Buttons that change something. They are hidden on a read-only server. */
  children?: ComponentChildren;
}

/** Shows the heading of a page about one thing. */
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

/** Shows who paused it and when, so that others know whom to ask. */
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
