/**
 * Shares answers between clients. Equal requests that arrive together get one answer, which is computed after the last of them
 * arrived. For later requests it is computed again, until that has taken too much time. Then an answer of the last OLDEST_MS
 * is sent again, so that many clients do not slow down the jobs.
 */
export interface SharedAnswers {
  /** Returns the answer for a key, which contains everything that the answer depends on, including the role. */
  answer(key: string, make: () => Promise<Response>): Promise<Response>;
  /** Drops all answers. It is called after a change that they do not contain. */
  forget(): void;
}

/** The share of a core that one key may use, and the time that it may use at once after a pause. */
const SHARE = 0.02;
const BURST_MS = 40;
const OLDEST_MS = 250;
const MOST_KEYS = 200;

interface Answer {
  at: number;
  status: number;
  headers: [string, string][];
  body: string;
}

export function createSharedAnswers(now: () => number): SharedAnswers {
  const spent = new Map<string, { leftMs: number; at: number }>();
  const pending = new Map<string, Promise<Answer>>();
  let cached = new Map<string, Answer>();

  /** Returns how many milliseconds a key may still use. */
  const budgetMs = (key: string): number => {
    const before = spent.get(key);
    return before === undefined ? BURST_MS : Math.min(BURST_MS, before.leftMs + (now() - before.at) * SHARE);
  };

  const begin = async (key: string, make: () => Promise<Response>): Promise<Answer> => {
    // Requests that have already arrived are read first, so that they share this answer.
    await new Promise((resolve) => setImmediate(resolve));
    pending.delete(key);
    // If `forget` replaces the map meanwhile, this answer goes into the old map, which is no longer read.
    const currentCache = cached;
    const at = now();
    const response = await make();
    const made = { at, status: response.status, headers: [...response.headers], body: await response.text() };
    const leftMs = budgetMs(key) - (now() - at);
    if (spent.size >= MOST_KEYS) spent.clear();
    spent.set(key, { leftMs, at: now() });
    if (leftMs <= 0 && made.status === 200) currentCache.set(key, made);
    return made;
  };

  return {
    async answer(key, make) {
      const known = cached.get(key);
      if (known !== undefined && now() - known.at < OLDEST_MS && budgetMs(key) <= 0) return toResponse(known);
      let making = pending.get(key);
      if (making === undefined) {
        making = begin(key, make);
        pending.set(key, making);
      }
      return toResponse(await making);
    },
    forget() {
      cached = new Map();
    },
  };
}

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}
