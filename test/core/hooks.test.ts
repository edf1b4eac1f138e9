import { describe, expect, test } from 'bun:test';
import { hooksAfter, withoutDefaultHooks } from '../../src/core/jobs/hooks.ts';
import type { ClaimedJob, JobHooks } from '../../src/core/jobs/job.ts';
import { decide, exitCodeOf, type Outcome, policyFromSettings } from '../../src/core/rules/decide.ts';
import { resolveSettings } from '../../src/core/settings/stored-settings.ts';
import { failedWith, jobSpec, NOW, succeeded } from '../support/jobs.ts';

const ALL_HOOKS = new Map(
  ['complete', 'failure', 'dead', 'idle'].map((event) => [`on-${event}`, `tell ${event}`]),
);

function hooksFor(outcome: Outcome, over: Partial<ClaimedJob> = {}, stored = ALL_HOOKS) {
  const settings = resolveSettings(stored);
  const job = { ...jobSpec('job', { cwd: '/work' }), attempts: 0, crashes: 0, ...over } as ClaimedJob;
  const transition = decide(job, outcome, policyFromSettings(settings), NOW, () => 0);
  const cause = { job, transition, exitCode: exitCodeOf(outcome), error: 'exit code 3: "$(id)`x`"' };
  let ids = 0;
  return hooksAfter(cause, { settings, newId: () => `h${++ids}`, directory: () => '/home' });
}
const hookNames = (outcome: Outcome, over: Partial<ClaimedJob> = {}) => {
  const { hooks, onIdle } = hooksFor(outcome, over);
  return [...hooks, ...(onIdle === null ? [] : [onIdle])].map((hook) => hook.name).join(' ');
};

describe('hooks', () => {
  test.each<[string, Outcome, Partial<ClaimedJob>, string]>([
    ['a job completed', succeeded, {}, 'on-complete on-idle'],
    ['a failure that is retried', failedWith(3), {}, 'on-failure on-idle'],
    ['the last allowed failure', failedWith(3), { attempts: 2 }, 'on-failure on-dead on-idle'],
    ['the last allowed timeout', { why: 'timeout' }, { maxRetries: 1 }, 'on-failure on-dead on-idle'],
    ['the last allowed crash', { why: 'lost' }, { crashes: 4 }, 'on-dead on-idle'],
    ['a cancel', { why: 'cancelled' }, {}, 'on-idle'],
    ['a crash', { why: 'lost' }, {}, ''],
    ['a stop', { why: 'stopped' }, {}, ''],
    ['an attempt that never started', { why: 'never-started' }, {}, ''],
    ["a hook's own job completed", succeeded, { queue: 'hooks' }, ''],
    ["a hook's own job became dead", failedWith(1), { queue: 'hooks', maxRetries: 1 }, ''],
  ])('that run after %s', (_, outcome, over, expected) => expect(hookNames(outcome, over)).toBe(expected));

  test('do not run if no hook is set', () => {
    expect(hooksFor(failedWith(1), { maxRetries: 1 }, new Map())).toEqual({ hooks: [], onIdle: null });
  });

  test("of a job replace those of the settings and run in the job's directory, and the value none disables a hook", () => {
    const hooks: JobHooks = { failure: 'none', dead: './own' };
    const result = hooksFor(failedWith(1), { maxRetries: 1, hooks }).hooks;
    expect(result.map((hook) => [hook.command, hook.cwd])).toEqual([['./own', '/work']]);
    expect(hooksFor(succeeded).hooks.map((hook) => [hook.command, hook.cwd])).toEqual([
      ['tell complete', '/home'],
    ]);
  });

  test('of the settings, but not those of the job, are switched off by withoutDefaultHooks', () => {
    const { hooks } = withoutDefaultHooks<{ hooks?: JobHooks }>({});
    expect(hooksFor(succeeded, { hooks: hooks! })).toEqual({ hooks: [], onIdle: null });
    expect(hooksFor(failedWith(1), { hooks: hooks! })).toEqual({ hooks: [], onIdle: null });
    const own = withoutDefaultHooks<{ hooks?: JobHooks }>({ hooks: { complete: 'x' } });
    expect(hooksFor(succeeded, { hooks: own.hooks! }).hooks.map((hook) => hook.command)).toEqual(['x']);
  });
});

test('the data of the event are in the environment and never in the command', () => {
  const [failure, dead] = hooksFor(failedWith(3), { attempts: 2, queue: 'mail' }).hooks;
  expect(dead).toMatchObject({ command: 'tell dead', argv: null, queue: 'hooks', tags: { job: 'job' } });
  expect(failure!.env.QUEUECTL_HOOK_EVENT).toBe('failure');
  expect(dead!.env).toEqual({
    QUEUECTL_HOOK_EVENT: 'dead',
    QUEUECTL_HOOK_JOB_ID: 'job',
    QUEUECTL_HOOK_STATE: 'dead',
    QUEUECTL_HOOK_EXIT_CODE: '3',
    QUEUECTL_HOOK_ERROR: 'exit code 3: "$(id)`x`"',
    QUEUECTL_HOOK_QUEUE: 'mail',
    QUEUECTL_HOOK_ATTEMPTS: '3',
  });
  expect(hooksFor({ why: 'lost' }, { crashes: 4 }).hooks[0]!.env.QUEUECTL_HOOK_EXIT_CODE).toBe('');
});
