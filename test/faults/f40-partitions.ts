import { join } from 'node:path';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { addHost, type TestHost } from '../support/hosts.ts';
import { argumentsOf, sendSignal } from '../support/processes.ts';
import { lines, until } from '../support/queuectl.ts';
import { endless, gapOf, overlapsIn } from './exclusive-job.ts';
import { checkStore, inStorm, type Storm } from './f38-postgres-storm.ts';
import type { Fault, Figures } from './fault.ts';
import { watchPauses } from './held-up.ts';
import { jobProcessesIn } from './job-processes.ts';
import type { Supervisor } from './lab.ts';
import { addNetworkHost, type NetworkHost, whyNoNetworkHosts } from './network-hosts.ts';
import { roundDone, startProgress } from './progress.ts';

const SETTINGS = { 'heartbeat-interval': '300ms', 'kill-grace': '500ms', lease: '4s', 'crash-limit': '1000' };
/** A round in which this process itself got no processor for this long is repeated, because the guard got none either. */
const LONGEST_PAUSE_MS = 400;
const MAX_TRIES = 10;
/** A machine that stands still delays the takeover. */
const TAKEOVER_LIMIT_MS = 300_000;

interface PartitionedHost {
  host: TestHost;
  network: NetworkHost;
  proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  supervisor: Supervisor;
  start(): Supervisor;
}

interface Scene {
  storm: Storm;
  hosts: PartitionedHost[];
  gaps: number[];
  /** The jobs of rounds that were repeated. */
  discounted: Set<string>;
}

/** Cuts the network of a host while it runs a job. Another host may start the job only after the first run is over. */
export const partitions: Fault = {
  id: 'F40',
  title: 'A host is cut off from PostgreSQL while it runs a job, with its workers alive or killed',
  small: 4,
  full: 50,
  whySkipped: whyNoNetworkHosts,
  run: (rounds, seed, program) =>
    inStorm(seed, program, async (storm) => {
      await storm.lab.configure(SETTINGS);
      const scene: Scene = { storm, hosts: [], gaps: [], discounted: new Set() };
      try {
        for (const name of ['left', 'right']) scene.hosts.push(await startHost(storm, name));
        startProgress(rounds);
        for (let round = 0; round < rounds; round++) {
          await playRound(scene, round);
          roundDone();
        }
        return await judge(scene, rounds);
      } finally {
        for (const { host, network, proxy } of scene.hosts) {
          await host.kill();
          proxy.close();
          network.remove();
        }
      }
    }),
};

async function startHost({ lab, server }: Storm, name: string): Promise<PartitionedHost> {
  const network = addNetworkHost();
  const proxy = await startCuttingProxy(server.url, network.gateway);
  const host = addHost(lab.box, name, { url: proxy.url });
  const start = (): Supervisor => lab.supervisor([], host.environment, network.through);
  return { host, network, proxy, supervisor: start(), start };
}

/** Plays a round, and repeats it if this machine stood still meanwhile. */
async function playRound(scene: Scene, round: number): Promise<void> {
  for (let i = 0; i < MAX_TRIES; i++) if (await partitionOnce(scene, round, `j${round}-${i}`)) return;
  throw new Error(`this machine stood still in ${MAX_TRIES} rounds in a row`);
}

async function partitionOnce(scene: Scene, round: number, id: string): Promise<boolean> {
  const { storm, hosts, gaps, discounted } = scene;
  const { lab } = storm;
  const { directory } = lab.box;
  const starts = (): string[] => lines(join(directory, `starts-${id}`));
  await untilAllReady(hosts);
  await lab.enqueue([{ id, command: endless(round % 3 === 0) }]);
  await until(() => starts().length > 0, `${id} runs`);
  const cutOff = hosts.find(({ host }) => jobProcessesIn(host.home).some(({ job }) => job === id))!;
  const [isKilled, cut] = [round % 2 === 1, round % 4 < 2 ? 'link' : 'loss'] as const;
  const pauses = watchPauses();
  cutOff.network.cut(cut);
  if (isKilled) sendSignal(managersOf(cutOff), 'SIGKILL');
  await until(() => starts().length > 1, `${id} runs on the other host`, TAKEOVER_LIMIT_MS);
  const stoodStillMs = pauses.stop();
  cutOff.network.heal();
  if (isKilled) {
    await cutOff.supervisor.exit;
    cutOff.supervisor = cutOff.start();
  }
  await lab.waitForJobs();
  const hasMet = overlapsIn(directory).includes(id);
  if (hasMet && stoodStillMs > LONGEST_PAUSE_MS) {
    discounted.add(id);
    return false;
  }
  gaps.push(gapOf(directory, id));
  return true;
}

/** Waits until every host has a worker that can take a job. One that was cut off has been replaced by then. */
async function untilAllReady(hosts: PartitionedHost[]): Promise<void> {
  for (const { supervisor } of hosts)
    await until(() => {
      const [readies, exits] = [' ready ', ' starting a replacement'].map(
        (part) => supervisor.output().split(part).length,
      );
      return readies! > exits!;
    }, 'the workers are ready');
}

/** Returns the supervisor and the workers of a host. */
function managersOf({ host }: PartitionedHost): number[] {
  return host
    .pids()
    .filter((pid) => argumentsOf(pid).some((word) => word === '__worker' || word === 'start'));
}

async function judge({ storm, hosts, gaps, discounted }: Scene, rounds: number): Promise<Figures> {
  const { lab } = storm;
  const commands = () => hosts.flatMap(({ host }) => jobProcessesIn(host.home));
  // Without a guard, the next worker of the host ends what still runs there.
  await until(() => commands().length === 0, 'no command is left');
  const violations = await lab.judge(new Set());
  const counted = overlapsIn(lab.box.directory).filter((id) => !discounted.has(id));
  return {
    jobs: lab.enqueued.length,
    faults: rounds,
    violations: [
      ...violations,
      ...counted.map((id) => ({ kind: 'overlap', what: `two runs of ${id} met` })),
      ...commands().map(({ job, pid }) => ({ kind: 'orphan', what: `process ${pid} of ${job} is left` })),
      ...(await checkStore(lab.box)),
    ],
    notes: `the first run was over at least ${Math.min(...gaps)}ms before the next one`,
  };
}
