import type { WorkerStore } from '../contract/workers.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function workerStore(_db: Connection): WorkerStore {
  return unwritten('workers', [
    'register',
    'beat',
    'stopOrderOf',
    'unregister',
    'handOver',
    'workers',
    'registerSupervisor',
    'unregisterSupervisor',
    'supervisors',
    'order',
    'orderAll',
  ]);
}
