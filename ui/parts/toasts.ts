import { signal } from '@preact/signals';
import { Problem } from '../frame/api.ts';

export interface Toast {
  number: number;
  kind: 'good' | 'bad';
  text: string;
  code: string | null;
  hint: string | null;
}

const GOOD_MS = 4000;
let next = 1;

export const toasts = signal<Toast[]>([]);

function add(toast: Omit<Toast, 'number'>): number {
  const number = next++;
  toasts.value = [...toasts.value, { ...toast, number }];
  return number;
}

export function dismiss(number: number): void {
  toasts.value = toasts.value.filter((toast) => toast.number !== number);
}

/** Shows a message that disappears by itself. Errors stay until they are dismissed. */
export function notify(text: string): void {
  const number = add({ kind: 'good', text, code: null, hint: null });
  setTimeout(() => dismiss(number), GOOD_MS);
}

export function notifyError(error: unknown): void {
  const known = error instanceof Problem ? error : null;
  const text = error instanceof Error ? error.message : String(error);
  add({ kind: 'bad', text, code: known?.code ?? null, hint: known?.hint ?? null });
}
