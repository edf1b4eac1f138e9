import { observeOrGate, type Sighting, untilOver } from '../exec/observe-attempt.ts';
import { NO_GROUP, processes } from '../exec/processes.ts';
import type { ExitCode } from '../exec/start.ts';
import { recordedAt } from '../state/record.ts';
import { isSealed } from '../state/seal.ts';
import type { Adoption, Attempt, StartedCommand, Verdict } from './attempt.ts';

/** Takes over a command that is not a child of this process. It watches the command, and reads from the record how it ended. */
export function takeOver({ job, place }: Attempt, adoption: Adoption): StartedCommand | Verdict {
  const { cookie } = place;
  const seen = observeOrGate(place);
  switch (seen.kind) {
    case 'never-started': {
      // After a restart, or if all directories of attempts were removed, a missing record proves nothing.
      const unknown = adoption.rebooted || !isSealed(place, job.claim.attempt, adoption.seal);
      return { outcome: { why: unknown ? 'lost' : 'never-started' } };
    }
    case 'alive': {
      const exit = untilOver(place).then(codeAtEnd); // fault-control: adopt-alive
      const since = Number(processes.startTime(seen.pid) ?? 0) || 0;
      const target = { group: seen.pid, cookie, since };
      return { target, ageMs: processes.ageMs(seen.pid) ?? 0, exit };
    }
    case 'unseen':
      return { target: { group: NO_GROUP, cookie }, ageMs: 0, exit: untilOver(place).then(codeAtEnd) };
    case 'ended': {
      const running = { target: { group: seen.pid, cookie }, ageMs: 0, exit: Promise.resolve(seen) }; // fault-control: adopt-ended
      return { ...running, stopped: adoption.stopping, endedAt: recordedAt(place) };
    }
    case 'lost':
      return { target: { group: seen.pid ?? NO_GROUP, cookie }, ageMs: 0, exit: Promise.resolve(null) };
  }
}

function codeAtEnd(end: Sighting): ExitCode | null {
  return end.kind === 'ended' ? end : null;
}
