import { addHost, type TestHost } from '../support/hosts.ts';
import { below, pick } from '../support/random.ts';
import type { JobRow } from './checker.ts';
import { exclusive, overlapsIn } from './exclusive-job.ts';
import {
  checkStore,
  faultsOf,
  inStorm,
  LAST_LEASE,
  notesOf,
  playRound,
  type Storm,
  stormJobs,
} from './f38-postgres-storm.ts';
import type { Fault, Figures } from './fault.ts';
import { jobProcessesIn } from './job-processes.ts';
import { roundDone, startProgress } from './progress.ts';

const HOSTS = 3;
const WORKERS_PER_HOST = 3;
/** One round in this many kills all processes of a host and starts its workers again. */
const ROUNDS_PER_KILL = 4;
/** The lease is short, so that the other hosts soon take over the jobs of a host that is not started again at once. */
const SETTINGS = { lease: '12s', 'crash-limit': '1000' };

interface StormHost {
  host: TestHost;
  start(): void;
}

/** Kills whole hosts during the storm of F38, and starts them again at once or after the others have taken over their jobs. */
export const manyHostsStorm: Fault = {
  id: 'F38b',
  title: 'The same storm with three hosts, which are killed whole and started again',
  small: 2,
  full: 100,
  run: (rounds, seed, program) =>
    inStorm(seed, program, async (storm) => {
      await storm.lab.configure(SETTINGS);
      const hosts = Array.from({ length: HOSTS }, (_, i) => stormHost(storm, `host${i}`));
      try {
        return await playStorm(storm, hosts, rounds);
      } finally {
        for (const { host } of hosts) await host.kill();
      }
    }),
};

function stormHost({ lab, proxy }: Storm, name: string): StormHost {
  const host = addHost(lab.box, name, { url: proxy.url });
  const args = ['--count', String(WORKERS_PER_HOST), '--concurrency', '2'];
  return { host, start: () => void lab.supervisor(args, host.environment) };
}

async function playStorm(storm: Storm, hosts: StormHost[], rounds: number): Promise<Figures> {
  const { lab } = storm;
  for (const one of hosts) one.start();
  startProgress(rounds);
  let kills = 0;
  for (let round = 0; round < rounds; round++) {
    const victim = round % ROUNDS_PER_KILL === 1 ? pick(lab.random, hosts) : null;
    const jobs = stormJobs(lab.random, round, exclusive);
    const isLate = below(lab.random, 2) === 0;
    const played = playRound(storm, round, jobs);
    if (victim !== null) {
      await victim.host.kill();
      kills++;
      if (isLate) await played;
      victim.start();
    }
    await played;
    roundDone();
  }
  await lab.configure({ lease: LAST_LEASE });
  await lab.waitForJobs();
  const judged = await lab.judge(new Set());
  // Nobody can know that a command had succeeded if its host was killed before the result was stored, or if the guard ended the
  // command before its exit code was known. The attempt is lost or stopped.
  const isCutOff = ({ crashes, results }: JobRow): boolean =>
    crashes > 0 || /\bstopped\b/.test(results ?? '');
  const lostIds = (await storm.audit.readJobs()).filter(isCutOff).map((job) => job.id);
  const isRepeat = ({ kind, what }: Figures['violations'][number]): boolean =>
    kind === 'twice' && lostIds.some((id) => what === `${id} ran again after it had succeeded`);
  const violations = judged.filter((one) => !isRepeat(one));
  const { directory } = lab.box;
  const overlaps = overlapsIn(directory).map((job) => ({ kind: 'overlap', what: `two runs of ${job} met` }));
  const orphans = hosts.flatMap(({ host }) => jobProcessesIn(host.home));
  const left = orphans.map(({ job, pid }) => ({ kind: 'orphan', what: `process ${pid} of ${job} is left` }));
  return {
    jobs: lab.enqueued.length,
    faults: faultsOf(storm) + kills,
    violations: [...violations, ...overlaps, ...left, ...(await checkStore(lab.box))],
    notes: `${notesOf(storm)}, ${kills} hosts killed; ${lostIds.length} jobs lost an attempt, ${judged.length - violations.length} of them after its success`,
  };
}
