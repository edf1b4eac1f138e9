import { signal } from '@preact/signals';
import type { Draft } from '../jobs/draft.ts';
import type { Job, Queue, Schedule } from '../types.ts';

/** The overlays of a page. Each is rendered apart from it, so that live updates never redraw an open one. */
export const paletteOpen = signal(false);
export const helpOpen = signal(false);
export const draft = signal<Draft | null>(null);
export const editing = signal<Job | null>(null);
export const limiting = signal<Queue | null>(null);
/** The schedule that is edited, or `new`. */
export const scheduling = signal<Schedule | 'new' | null>(null);
export const menuOpen = signal(false);
