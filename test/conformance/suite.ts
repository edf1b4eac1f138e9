import { describe, expect, test } from 'bun:test';
import type { Store } from '../../src/store/store.ts';
import { adopt } from './adopt.ts';
import { cancelHoldEdit } from './cancel-hold-edit.ts';
import { counters } from './counters.ts';
import { dependencies } from './dependencies.ts';
import { due } from './due.ts';
import { dumpAndLoad } from './dump-and-load.ts';
import { events } from './events.ts';
import { fields } from './fields.ts';
import { figuresOverTime } from './figures.ts';
import { filters } from './filters.ts';
import { giveBack } from './give-back.ts';
import { hooks } from './hooks.ts';
import { hosts } from './hosts.ts';
import { idempotency } from './idempotency.ts';
import { insert } from './insert.ts';
import { lists } from './lists-and-counts.ts';
import { orderAndClaim } from './order-and-claim.ts';
import { output } from './output.ts';
import { prune } from './prune.ts';
import { queues } from './queues.ts';
import { renew } from './renew.ts';
import { retryAndRemove } from './retry-and-remove.ts';
import { schedules } from './schedules.ts';
import { settings } from './settings.ts';
import { settle } from './settle.ts';
import { settleAndClaim } from './settle-and-claim.ts';
import { settleAnswers } from './settle-answers.ts';
import { sharedLimit } from './shared-limit.ts';
import { sharedOutput } from './shared-output.ts';
import { startOptions } from './start-options.ts';
import type { Case, CaseContext, OpenedForTest } from './topic.ts';
import { unique } from './unique.ts';
import { wishes } from './wishes.ts';
import { workers } from './workers.ts';

export interface StoreUnderTest {
  /** Opens a new, empty store. */
  open(): Promise<OpenedForTest>;
  /** Lists cases this store cannot pass, as `topic > case`, each with its reason. */
  skip?: Record<string, string>;
}

/** Lists the topics of each part of the contract. */
const PARTS: Record<string, Record<string, Record<string, Case>>> = {
  jobs: {
    insert,
    fields,
    unique,
    idempotency,
    dependencies,
    'stdin and other start options': startOptions,
    'lists and counts': lists,
    filters,
    counters,
    output,
  },
  'job actions': { 'retry and remove': retryAndRemove, 'cancel, hold and edit': cancelHoldEdit },
  claims: {
    'order and claim': orderAndClaim,
    'next due': due,
    'shared limit': sharedLimit,
    settle,
    'give back': giveBack,
    'settle answers': settleAnswers,
    'settle and claim': settleAndClaim,
    hooks,
    adopt,
    'wishes and own claims': wishes,
  },
  workers: { workers, 'several hosts': hosts },
  'shared output': { 'shared output': sharedOutput },
  queues: { queues, settings },
  schedules: { schedules },
  events: { events },
  figures: { figures: figuresOverTime },
  retention: { prune },
  care: { renew, 'dump and load': dumpAndLoad },
};
const TOPICS = Object.values(PARTS).flatMap((topics) => Object.entries(topics));

/** Runs every case of the contract in src/store/contract/ on a store. */
export function describeStore(name: string, { open, skip = {} }: StoreUnderTest): void {
  checkSkips(skip);
  describe(name, () => {
    test('every store has its own epoch, which is the same over all connections', () =>
      onFreshStore(open, (one) => onFreshStore(open, (two) => expectOwnEpochs(one, two))));
    for (const [part, topics] of Object.entries(PARTS))
      describe(part, () => {
        for (const [topic, cases] of Object.entries(topics))
          describe(topic, () => describeTopic(topic, cases, open, skip));
      });
  });
}

function describeTopic(
  topic: string,
  cases: Record<string, Case>,
  open: StoreUnderTest['open'],
  skip: Record<string, string>,
): void {
  for (const [title, run] of Object.entries(cases)) {
    const reason = skip[`${topic} > ${title}`];
    if (reason !== undefined) test.skip(`${title} (${reason})`, () => {});
    else test(title, () => onFreshStore(open, run));
  }
}

async function onFreshStore(open: () => Promise<OpenedForTest>, run: Case): Promise<void> {
  const { store, reopen, cleanup } = await open();
  const opened = new Set<Store>([store]);
  const another = async (actor?: string, host?: string): Promise<Store> => {
    const next = await reopen(actor, host);
    opened.add(next);
    return next;
  };
  const close = async (one: Store): Promise<void> => {
    opened.delete(one);
    await one.close();
  };
  try {
    await run({ store, another, close });
  } finally {
    for (const one of opened) await one.close();
    await cleanup();
  }
}

async function expectOwnEpochs(one: CaseContext, two: CaseContext): Promise<void> {
  expect(one.store.epoch).not.toBe(two.store.epoch);
  expect((await one.another()).epoch).toBe(one.store.epoch);
}

function checkSkips(skip: Record<string, string>): void {
  const known = TOPICS.flatMap(([topic, cases]) => Object.keys(cases).map((title) => `${topic} > ${title}`));
  const unknown = Object.keys(skip).filter((one) => !known.includes(one));
  if (unknown.length > 0) throw new Error(`no such case to skip: ${unknown.join(', ')}`);
}
