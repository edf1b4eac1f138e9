import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Empty } from '../parts/empty.tsx';
import { SHARED } from '../words/shared.ts';

type Pages = typeof import('../operations-pages.ts');

const loaded = signal<Pages | 'gone' | null>(null);
let loading = false;

/** Loads the pages once, when the first of them is shown, so that the first load of the dashboard is small. */
function load(): void {
  if (loading) return;
  loading = true;
  import('../operations-pages.ts').then(
    (pages) => {
      loaded.value = pages;
    },
    () => {
      loaded.value = 'gone';
    },
  );
}

/** Returns a component whose code is loaded when it is first shown. */
export function lazy<Props extends object>(
  pick: (pages: Pages) => ComponentType<Props>,
): ComponentType<Props> {
  return (props: Props) => {
    if (loaded.value === null) load();
    if (loaded.value === null) return null;
    if (loaded.value === 'gone') return <Empty text={SHARED.notLoaded} />;
    const Page = pick(loaded.value);
    return <Page {...props} />;
  };
}
