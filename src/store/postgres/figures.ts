import type { FigureStore } from '../contract/figures.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function figureStore(_db: Connection): FigureStore {
  return unwritten('figures', [
    'series',
    'breakdown',
    'totals',
    'oldestWaiting',
    'sampleWaiting',
    'walBytes',
    'forgetRollups',
    'finishedAttempts',
    'lastEnded',
  ]);
}
