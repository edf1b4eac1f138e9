import { connection } from '../live.ts';
import { Icon } from './icon.tsx';

const WORDS = {
  away: 'The server does not answer. This page goes on by itself when it does: queuectl serve',
  polling:
    'The server tells nobody else what happens: too many look on. This page reads everything again every few seconds',
  'store-away':
    'The server cannot read its store. This page goes on by itself when it can: queuectl status says more',
};

/** Says what is away; what the page shows meanwhile is what was known last. */
export function Banner() {
  const state = connection.value;
  if (state === 'live' || state === 'connecting') return null;
  return (
    <div class="banner" role="alert">
      <Icon name="warning" />
      {WORDS[state]}
    </div>
  );
}
