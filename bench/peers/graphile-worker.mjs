import { Logger, makeWorkerUtils, run as startRunner } from 'graphile-worker';

const logger = new Logger(() => () => {});

export async function open(connectionString, { slots, preset = {} }) {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  return {
    add: (jobs) => utils.addJobs(Array(jobs).fill({ identifier: 'true', payload: {} })),
    work: (run) =>
      startRunner({
        preset: { worker: { connectionString, concurrentJobs: slots, logger, ...preset } },
        taskList: { true: run },
        noHandleSignals: true,
      }),
  };
}
