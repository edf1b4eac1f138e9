import { scheduleStatements } from '../../parts/schedules.ts';
import { workerStatements } from '../../parts/workers.ts';
import { POSTGRES } from '../engine.ts';
import { openQueues, wishes } from './claims.ts';

const asJson = (statement: string): string => `(SELECT json_agg(one)::text FROM (${statement}) AS one)`;
/** These statements have the id of the worker as their only value. */
const ofWorker = (statement: string): string => statement.replaceAll('$1', '$2');

/** Reads the agenda of the worker $2. Without queues in $1, it does not look for jobs. */
export const agenda = `SELECT (${ofWorker(workerStatements(POSTGRES).stopOrder)}) AS stop_order, ${asJson(ofWorker(wishes))} AS wishes,
  CASE WHEN $1::text[] IS NULL OR cardinality($1) > 0 THEN ${asJson(openQueues)} END AS queues, tick.*
  FROM (${scheduleStatements(POSTGRES).nextTick}) AS tick`;
