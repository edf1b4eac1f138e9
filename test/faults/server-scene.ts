import { connectTo } from '../support/http.ts';
import { until } from '../support/queuectl.ts';
import { type Crash, waitForRecovery } from './crash.ts';
import type { Lab } from './lab.ts';
import { witnessed } from './witness.ts';

const IDS = ['one', 'two', 'three'];

/** Releases jobs through a server, which records the action. If the server dies, releases them through another one. */
export async function releaseByServer(lab: Lab, crash: Crash): Promise<void> {
  await lab.enqueue(IDS.map((id) => ({ id, command: witnessed(0) })));
  await lab.box.json(['hold', ...IDS]);
  if (!(await releaseAll(crash))) await releaseAll(crash);
  await waitForRecovery(lab, lab.supervisor(['--count', '2']));
}

/** Releases the jobs through a new server. Returns false if the server died. */
async function releaseAll(crash: Crash): Promise<boolean> {
  const server = crash.server();
  const site = await connectTo(server);
  const body = { action: 'release', ids: IDS };
  const begun = await site.call('POST', '/api/v1/operations', { body }).catch(() => null);
  if (begun !== null && begun.status !== 202) throw new Error(begun.text);
  const isOver = async (): Promise<boolean> => {
    if (crash.checkDeath(server)) return true;
    const path = `/api/v1/operations/${begun?.json.id}`;
    const answer = begun === null ? null : await site.call('GET', path).catch(() => null);
    return answer?.json.state === 'done';
  };
  await until(isOver, 'the operation is done or the server has died');
  if (crash.checkDeath(server)) return false;
  process.kill(server.pid, 'SIGTERM');
  await server.exit;
  return !crash.checkDeath(server);
}
