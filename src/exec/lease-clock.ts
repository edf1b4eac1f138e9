import { maybeRead } from '../files/read.ts';
import { processes } from './processes.ts';

let offsetMs: number | null = null;

/**
 * Returns the time by which leases are measured on this host, in milliseconds. It goes on while the machine is suspended. It is the
 * same for all processes of this boot, also in other time namespaces.
 */
export function leaseClock(): number {
  offsetMs ??= offsetOfNamespace();
  return processes.clock() - offsetMs;
}

/** Returns how much later the boot clock of this time namespace is than that of the machine. */
function offsetOfNamespace(): number {
  const text = maybeRead('/proc/self/timens_offsets') ?? '';
  const [, seconds = 0, nanoseconds = 0] = /^boottime\s+(-?\d+)\s+(\d+)/m.exec(text) ?? [];
  return Number(seconds) * 1000 + Number(nanoseconds) / 1e6;
}

/** Returns the time for a gate that is taken now, in seconds of the lease clock, and the boot. The wall clock does not matter. */
export function gateTime(): string {
  return `${Math.floor(leaseClock() / 1000)}-${processes.bootId().replaceAll('-', '')}`;
}
