import { useComputed, useSignal } from '@preact/signals';

/** Manages the selected jobs. A change of the filter clears the selection. */
export function useSelection(key: string) {
  const of = useSignal(key);
  const ids = useSignal<ReadonlySet<string>>(new Set());
  const all = useSignal(false);
  const from = useSignal<string | null>(null);
  const same = of.value === key;
  const clear = (): void => {
    of.value = key;
    ids.value = new Set();
    all.value = false;
  };
  const current = useComputed(() => ids.value);
  const change = (some: string[], on: boolean): void => {
    const next = new Set(same ? ids.value : []);
    for (const id of some) on ? next.add(id) : next.delete(id);
    of.value = key;
    all.value = false;
    ids.value = next;
  };
  return {
    ids: same ? current.value : new Set<string>(),
    all: same && all.value,
    from: from.value,
    clear,
    selectPage: change,
    toggle(id: string): void {
      from.value = id;
      change([id], !(same && ids.value.has(id)));
    },
    selectAll(): void {
      of.value = key;
      all.value = true;
    },
  };
}
