import { Icon } from '../parts/icon.tsx';
import type { State } from '../types.ts';
import { SHARED } from '../words/shared.ts';

/** Shows a state as an icon, a word and a color. Each of them is enough to recognize it. */
export function StateMark({ state }: { state: string }) {
  return (
    <span class={`state state-${state}`}>
      <Icon name={state as State} />
      {SHARED.states[state]}
    </span>
  );
}
