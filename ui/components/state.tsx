import type { State } from '../types.ts';
import { SHARED } from '../words/shared.ts';
import { Icon } from './icon.tsx';

/** A state is a sign, a word and a colour: any one of them is enough. */
export function StateMark({ state }: { state: string }) {
  return (
    <span class={`state state-${state}`}>
      <Icon name={state as State} />
      {SHARED.states[state]}
    </span>
  );
}
