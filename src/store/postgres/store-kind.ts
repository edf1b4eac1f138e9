import type { StoreKind } from '../store-kind.ts';
import { openPostgres, peekPostgres } from './open.ts';

export const POSTGRES: StoreKind = {
  open: (location, options) => openPostgres(location, options),
  peek: (location) => peekPostgres(location),
  care: async () => (await import('./care/server-care.ts')).postgresCare,
};
