import { test } from 'bun:test';
import { inSandbox, type Sandbox } from './queuectl.ts';

type Body = (box: Sandbox) => Promise<void>;

/** Defines a test that runs in a new sandbox, which is cleaned up however the test ends. */
export const sandboxTest = (title: string, body: Body, limitMs?: number): void =>
  test(title, inSandbox(body, limitMs));

/** Defines the same as `sandboxTest`, but the test may run at the same time as others of its file. */
export const concurrentTest = (title: string, body: Body, limitMs?: number): void =>
  test.concurrent(title, inSandbox(body, limitMs));
