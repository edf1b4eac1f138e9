import { signal } from '@preact/signals';

/** Groups of dead jobs that the user muted in this browser. */
const KEY = 'queuectl-muted';
const MOST = 200;

export const muted = signal<ReadonlySet<string>>(new Set(stored()));

function stored(): string[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
}

export function toggleMuted(signature: string): void {
  const next = new Set(muted.value);
  if (!next.delete(signature)) next.add(signature);
  muted.value = next;
  localStorage.setItem(KEY, JSON.stringify([...next].slice(-MOST)));
}
