import { QueueError } from '../../../core/errors.ts';
import { type Client, endClient, keepRunning } from './client.ts';
import { isFull } from './failures.ts';

/** A call waits this long for a connection in use before it opens another. So an idle worker, whose calls are short, has only one. */
const PATIENCE_MS = 30;
/** In a busy process, calls would often wait. So after this many waits within a second, a call opens a connection at once. */
const MOST_WAITS = 2;
const WAITS_COUNTED_MS = 1000;
/** A connection that nobody uses for this long is closed, unless it is the last one. */
const IDLE_MS = 5000;
/** If the server has no more connections, a call waits this long for one in use. */
const LONGEST_WAIT_MS = 5000;

/** A few connections that the calls of one process share. */
export class Pool {
  readonly #connect: (deadline?: number) => Promise<Client>;
  readonly #most: number;
  /** The connections that no call uses, with the timers that close them. The one that was used last is the last one. */
  readonly #idle = new Map<Client, NodeJS.Timeout>();
  /** The calls that wait for a connection. */
  readonly #waiting = new Set<(client: Client | null) => void>();
  #waits = { since: 0, count: 0 };
  #open = 0;
  #isClosed = false;

  /** `first` is a connection that is open already. */
  constructor(connect: (deadline?: number) => Promise<Client>, most: number, first?: Client) {
    this.#connect = connect;
    this.#most = most;
    if (first === undefined) return;
    this.#open++;
    this.#watch(first);
    this.give(first, false);
  }

  /** Returns a connection that no other call uses. Waits while all are in use. A new one must be open until `deadline`. */
  async take(deadline?: number): Promise<Client> {
    for (let until = Number.NaN; ; ) {
      if (this.#isClosed) throw new QueueError('store-unavailable', 'the connection to PostgreSQL is closed');
      const client = [...this.#idle.keys()].at(-1);
      if (client !== undefined) {
        this.#leaveIdle(client);
        keepRunning(client, true);
        return client;
      }
      if (Number.isNaN(until)) until = performance.now() + this.#patienceMs();
      const leftMs = this.#open < this.#most ? until - performance.now() : LONGEST_WAIT_MS;
      if (this.#open === 0 || leftMs <= 0) return this.#openAnother(deadline);
      const given = await this.#untilGiven(leftMs);
      if (given !== null) return given;
    }
  }

  /** Gives a connection back. A broken one is closed. */
  give(client: Client, isBroken: boolean): void {
    if (isBroken || this.#isClosed) return void this.#drop(client);
    if (this.#resumeFirst(client)) return;
    // An idle connection does not keep the process running.
    keepRunning(client, false);
    const closeIfSpare = (): void => {
      if (this.#open > 1 && this.#leaveIdle(client)) void this.#drop(client);
    };
    this.#idle.set(client, setTimeout(closeIfSpare, IDLE_MS).unref());
  }

  /** Closes all connections. Those in use are closed when they are given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#resumeFirst(null));
    await Promise.all([...this.#idle.keys()].map((client) => this.#leaveIdle(client) && this.#drop(client)));
  }

  /** Returns how long a call waits for a connection in use, while there can be more. */
  #patienceMs(): number {
    const now = performance.now();
    if (now - this.#waits.since > WAITS_COUNTED_MS) this.#waits = { since: now, count: 0 };
    return ++this.#waits.count > MOST_WAITS ? 0 : PATIENCE_MS;
  }

  async #openAnother(deadline?: number): Promise<Client> {
    this.#open++;
    try {
      const client = await this.#connect(deadline);
      this.#watch(client);
      return client;
    } catch (error) {
      this.#open--;
      this.#resumeFirst(null);
      // A process can do with fewer connections if the server has no more.
      const client = isFull(error) && this.#open > 0 ? await this.#untilGiven(LONGEST_WAIT_MS) : null;
      if (client === null) throw error;
      return client;
    }
  }

  /** Forgets a connection that ends while it is idle. */
  #watch(client: Client): void {
    client.once('end', () => {
      if (!this.#leaveIdle(client)) return;
      this.#open--;
      this.#resumeFirst(null);
    });
  }

  #leaveIdle(client: Client): boolean {
    clearTimeout(this.#idle.get(client));
    return this.#idle.delete(client);
  }

  #drop(client: Client): Promise<void> {
    this.#open--;
    this.#resumeFirst(null);
    // Node would otherwise exit while the caller waits for the end of an idle connection.
    keepRunning(client, true);
    return endClient(client);
  }

  /** Gives a connection to the call that has waited longest. With null, this call looks again. Returns false if no call waits. */
  #resumeFirst(client: Client | null): boolean {
    const [resume] = this.#waiting;
    resume?.(client);
    return resume !== undefined;
  }

  #untilGiven(limitMs: number): Promise<Client | null> {
    return new Promise((resolve) => {
      const resume = (client: Client | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(resume);
        resolve(client);
      };
      const timer = setTimeout(() => resume(null), limitMs);
      this.#waiting.add(resume);
    });
  }
}
