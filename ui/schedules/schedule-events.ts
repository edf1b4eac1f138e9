import type { StoreEvent } from '../types.ts';

export const ofSchedules = ({ kind }: StoreEvent): boolean => kind.startsWith('schedule') || kind === 'tick';
