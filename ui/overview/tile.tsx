import type { ComponentChildren } from 'preact';
import { number } from '../parts/format.ts';

interface TileProps {
  label: string;
  /** The page that lists what the tile counts. */
  href: string;
  value?: number | undefined;
  text?: ComponentChildren;
  bad?: boolean;
}

export function Tile({ label, href, value, text, bad = false }: TileProps) {
  return (
    <a class={bad ? 'tile bad' : 'tile'} href={href}>
      <span class="value">{text ?? (value === undefined ? '–' : number(value))}</span>
      <span class="label">{label}</span>
    </a>
  );
}
