import { availableTokens, type Tokens } from '../core/rules/queue.ts';

/** The time that the answers for one key may take, as tokens of one millisecond: a share of 2%. */
const TIME_LIMIT = { jobs: 20, perMs: 1000 };
/** After a pause, these answers may take the time that is allowed in this time at once. */
const BURST_MS = 2000;
const MAX_AGE_MS = 250;
const MAX_KEYS = 200;

interface Answer {
  at: number;
  status: number;
  headers: [string, string][];
  body: string;
}

export type SharedAnswers = ReturnType<typeof createSharedAnswers>;

/**
 * Shares answers between clients. Equal requests that arrive together get one answer, which is computed after the last of them
 * arrived. A later request computes a new one. If equal requests have used up their time (TIME_LIMIT), a later request gets an
 * answer that is at most MAX_AGE_MS old, so that many clients do not slow down the jobs.
 */
export function createSharedAnswers(now: () => number) {
  const budgets = new Map<string, Tokens>();
  const pending = new Map<string, Promise<Answer>>();
  let cached = new Map<string, Answer>();

  /** Returns how many milliseconds a key may still use. */
  const budgetMs = (key: string): number =>
    availableTokens(TIME_LIMIT, budgets.get(key) ?? null, now(), BURST_MS).tokens;

  const compute = async (key: string, make: () => Promise<Response>): Promise<Answer> => {
    // Requests that have already arrived are read first, so that they share this answer.
    await new Promise((resolve) => setImmediate(resolve));
    pending.delete(key);
    // If `forget` replaces the map meanwhile, this answer goes into the old map, which is no longer read.
    const currentCache = cached;
    const at = now();
    const response = await make();
    const answer = {
      at,
      status: response.status,
      headers: [...response.headers],
      body: await response.text(),
    };
    const left = budgetMs(key) - (now() - at);
    if (budgets.size >= MAX_KEYS) budgets.clear();
    budgets.set(key, { left, at: now() });
    if (left <= 0 && answer.status === 200) currentCache.set(key, answer);
    return answer;
  };

  return {
    /** Returns the answer for a key, which contains everything that the answer depends on, including the role. */
    async answer(key: string, make: () => Promise<Response>): Promise<Response> {
      const known = cached.get(key);
      if (known !== undefined && now() - known.at < MAX_AGE_MS && budgetMs(key) <= 0)
        return toResponse(known);
      let answer = pending.get(key);
      if (answer === undefined) {
        answer = compute(key, make);
        pending.set(key, answer);
      }
      return toResponse(await answer);
    },
    /** Drops all cached answers. Is called after a change, because they do not contain it. */
    forget(): void {
      cached = new Map();
    },
  };
}

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}
