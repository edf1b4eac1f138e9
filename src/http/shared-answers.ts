/**
 * Shares answers between clients. Equal requests that arrive together get one answer, which is computed after the last of them
 * arrived. Other requests are computed again, as long as that takes little time. Beyond it, an answer of the last moments is
 * sent again, so that many clients do not slow down the jobs.
 */
export interface SharedAnswers {
  /** Returns the answer for a key, which contains everything that the answer depends on, including the role. */
  answer(key: string, make: () => Promise<Response>): Promise<Response>;
  /** Drops all answers, because a client knows of a change that they do not contain. */
  forget(): void;
}

/** The share of a core that one key may use, and the time that it may use at once after a rest. */
const SHARE = 0.02;
const BURST_MS = 40;
const OLDEST_MS = 250;
const MOST_KEYS = 200;

interface Made {
  at: number;
  status: number;
  headers: [string, string][];
  body: string;
}

export function createSharedAnswers(now: () => number): SharedAnswers {
  const spent = new Map<string, { leftMs: number; at: number }>();
  const asked = new Map<string, Promise<Made>>();
  let kept = new Map<string, Made>();

  const rested = (key: string): number => {
    const before = spent.get(key);
    return before === undefined ? BURST_MS : Math.min(BURST_MS, before.leftMs + (now() - before.at) * SHARE);
  };

  const begin = async (key: string, make: () => Promise<Response>): Promise<Made> => {
    // Requests that have already arrived are read first, so that they share this answer.
    await new Promise((resolve) => setImmediate(resolve));
    asked.delete(key);
    // If `forget` replaces the map meanwhile, this answer goes into the old map, which nobody reads.
    const mine = kept;
    const at = now();
    const response = await make();
    const made = { at, status: response.status, headers: [...response.headers], body: await response.text() };
    const leftMs = rested(key) - (now() - at);
    if (spent.size >= MOST_KEYS) spent.clear();
    spent.set(key, { leftMs, at: now() });
    if (leftMs <= 0 && made.status === 200) mine.set(key, made);
    return made;
  };

  return {
    async answer(key, make) {
      const known = kept.get(key);
      if (known !== undefined && now() - known.at < OLDEST_MS && rested(key) <= 0) return toResponse(known);
      let making = asked.get(key);
      if (making === undefined) {
        making = begin(key, make);
        asked.set(key, making);
      }
      return toResponse(await making);
    },
    forget() {
      kept = new Map();
    },
  };
}

function toResponse({ status, headers, body }: Made): Response {
  return new Response(body, { status, headers });
}
