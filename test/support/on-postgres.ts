import { makeTempSchema } from './postgres.ts';
import { inSandbox, type Sandbox } from './queuectl.ts';

/** Returns a test that runs `body` in a sandbox whose commands use this queue on PostgreSQL, also from the library. */
export function inSandboxOn(url: () => Promise<string>, body: (box: Sandbox) => Promise<void>) {
  return async (): Promise<void> => {
    const before = process.env.QUEUECTL_DB;
    process.env.QUEUECTL_DB = await url();
    try {
      await inSandbox(body)();
    } finally {
      if (before === undefined) delete process.env.QUEUECTL_DB;
      else process.env.QUEUECTL_DB = before;
    }
  };
}

/** Returns a test that runs `body` in a sandbox with a new queue on the server of this run of tests. */
export function inPostgresSandbox(body: (box: Sandbox) => Promise<void>) {
  return async (): Promise<void> => {
    const schema = await makeTempSchema();
    try {
      await inSandboxOn(async () => schema.url, body)();
    } finally {
      await schema.drop();
    }
  };
}
