import { Icon } from '../parts/icon.tsx';
import { BANNER } from '../words/frame.ts';
import { connection } from './live.ts';

/** Reports a lost connection. The page keeps the data that it read last. */
export function Banner() {
  const state = connection.value;
  if (state === 'live' || state === 'connecting') return null;
  return (
    <div class="banner" role="alert">
      <Icon name="warning" />
      {BANNER[state]}
    </div>
  );
}
