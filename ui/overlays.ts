import { signal } from '@preact/signals';
import type { Draft } from './draft.ts';
import type { Job } from './types.ts';

/** What lies over the page. Each is drawn apart from it, so that nothing live redraws an open one. */
export const paletteOpen = signal(false);
export const helpOpen = signal(false);
export const draft = signal<Draft | null>(null);
export const editing = signal<Job | null>(null);
export const menuOpen = signal(false);
