import { EXECUTABLE, inSandbox, type Sandbox, sandbox } from './queuectl.ts';
import { type MakeSandboxStore, onTestServer, storeAt } from './sandbox-store.ts';

/**
 * Returns a test on a new queue on PostgreSQL that two hosts use. Each has a state directory of its own. The workers of `far` run
 * the jobs, unless the test starts others. `stores` replaces the server of this run of tests.
 */
export const onTwoHosts = (
  body: (near: Sandbox, far: Sandbox) => Promise<void>,
  stores: () => Promise<MakeSandboxStore> = onTestServer,
): (() => Promise<void>) =>
  inSandbox(
    async (far) => {
      await far.create();
      const near = sandbox([], EXECUTABLE, (home) => storeAt(far.environment.QUEUECTL_DB!, home));
      try {
        await body(near, far);
      } finally {
        await near.cleanup();
      }
    },
    undefined,
    stores,
  );
