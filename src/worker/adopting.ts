import { type Clock, systemClock } from '../core/clock.ts';
import { observeOrGate, type Sighting, untilOver } from '../exec/observe-attempt.ts';
import { NO_GROUP, processes } from '../exec/processes.ts';
import type { ExitCode } from '../exec/start.ts';
import type { Place } from '../state/place.ts';
import { recordedAt } from '../state/record.ts';
import { isSealed } from '../state/seal.ts';
import type { Adoption, Attempt, StartedCommand, Verdict } from './attempt.ts';

/** Takes over a command whose worker is gone. Returns a verdict if the command never started, or if that is unknown. */
export function takeOver({ context, job, place }: Attempt, adoption: Adoption): StartedCommand | Verdict {
  // The files and processes of the attempt are on another host, so a missing record proves nothing here. But if the command was to be
  // ended, for example by a cancel, that counts as the reason for its end.
  if (job.otherHost !== null) return { outcome: { why: job.endReason ?? 'lost' }, hasNoPlace: true };
  const { cookie } = place;
  const seen = observeOrGate(place);
  switch (seen.kind) {
    case 'never-started': {
      // After a reboot, or if files of attempts were removed, a missing record proves nothing.
      const mayHaveStarted =
        adoption.rebooted || job.otherBoot || !isSealed(place, job.claim.attempt, adoption.seal);
      return { outcome: { why: mayHaveStarted ? 'lost' : 'never-started' } };
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
      const command = { target: { group: seen.pid, cookie }, ageMs: 0, exit: Promise.resolve(seen) }; // fault-control: adopt-ended
      return { ...command, stopped: adoption.stopping, endedAt: endOf(place, context.app.clock) };
    }
    case 'lost':
      return { target: { group: seen.pid ?? NO_GROUP, cookie }, ageMs: 0, exit: Promise.resolve(null) };
  }
}

/** Returns when a command ended, by the clock of the store. The clock of the host, by which files have their times, may differ. */
function endOf(place: Place, clock: Clock): number | undefined {
  const at = recordedAt(place);
  return at === undefined ? undefined : clock.now() - Math.max(0, systemClock.now() - at);
}

function codeAtEnd(end: Sighting): ExitCode | null {
  return end.kind === 'ended' ? end : null;
}
