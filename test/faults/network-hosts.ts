import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A network namespace with one link to this machine. */
export interface NetworkHost {
  /** The address at which the namespace reaches this machine. */
  gateway: string;
  /** The first words of a command line that runs in the namespace. */
  through: string[];
  /** Cuts the network without ending a connection: the link goes down, or packets to the namespace get lost. */
  cut(how: Cut): void;
  heal(): void;
  remove(): void;
}

export type Cut = 'link' | 'loss';

/** A hardware address that no interface has. Packets to it vanish, as behind a firewall that drops them. */
const NOBODY = '02:00:00:00:00:99';

function ip(...args: string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}

/** Returns why this machine cannot have network namespaces, or null if it can. */
export function whyNoNetworkHosts(): string | null {
  if (process.getuid?.() !== 0) return 'needs root for network namespaces';
  try {
    const host = addNetworkHost(999);
    host.cut('loss');
    host.heal();
    host.remove();
    return null;
  } catch (error) {
    return `no network namespaces: ${(error as Error).message.trim()}`;
  }
}

let added = 0;

/** Adds a namespace. Its addresses and names depend on the process, so that several runs do not meet. */
export function addNetworkHost(number = added++): NetworkHost {
  const name = `qf${process.pid}-${number}`;
  const [outside, inside] = [`qf${process.pid % 1e6}o${number}`, `qf${process.pid % 1e6}i${number}`];
  const [gateway, address] = freeAddresses();
  const within = (...args: string[]): void => ip('-n', name, ...args);
  ip('netns', 'add', name);
  try {
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name);
    ip('address', 'add', `${gateway}/30`, 'dev', outside);
    ip('link', 'set', outside, 'up');
    within('address', 'add', `${address}/30`, 'dev', inside);
    within('link', 'set', inside, 'up');
    within('link', 'set', 'lo', 'up');
  } catch (error) {
    ip('netns', 'delete', name);
    throw error;
  }
  // The link ends with the namespace.
  const remove = (): void => void spawnSync('ip', ['netns', 'delete', name]);
  process.on('exit', remove);
  return {
    gateway,
    through: ['ip', 'netns', 'exec', name],
    cut(how) {
      if (how === 'link') ip('link', 'set', outside, 'down');
      else ip('neighbor', 'replace', address, 'lladdr', NOBODY, 'dev', outside, 'nud', 'permanent');
    },
    heal() {
      ip('link', 'set', outside, 'up');
      spawnSync('ip', ['neighbor', 'delete', address, 'dev', outside]);
    },
    remove() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** Returns the two addresses of a small network that this machine does not use. */
function freeAddresses(): [string, string] {
  const used = readFileSync('/proc/net/fib_trie', 'latin1');
  for (let i = process.pid % 4096; ; i = (i + 1) % 4096) {
    const base = `10.213.${i >> 4}`;
    const last = (i & 15) * 16;
    if (!used.includes(`${base}.${last + 1}\n`)) return [`${base}.${last + 1}`, `${base}.${last + 2}`];
  }
}
