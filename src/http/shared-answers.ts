/**
 * Answers that many ask for at once. Who asks together is told what was seen after the last of them had asked. Apart from
 * that each is made anew, as long as it takes little of the server's time; beyond it, one that was made moments ago is told
 * again, so that onlookers, however many, leave the machine to the jobs.
 */
export interface SharedAnswers {
  /** `key`: all that the answer depends on. Only for those who may see it. */
  answer(key: string, make: () => Promise<Response>): Promise<Response>;
  /** Something has changed that somebody knows of: nothing made before is told again. */
  forget(): void;
}

/** What one question may take of a core, and what it may take at once after a rest. */
const SHARE = 0.02;
const BURST_MS = 40;
const OLDEST_MS = 250;
const MOST_QUESTIONS = 200;

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
    // What else has arrived is read before this.
    await new Promise((resolve) => setImmediate(resolve));
    asked.delete(key);
    // What is seen before a change is kept where nobody looks after it.
    const mine = kept;
    const at = now();
    const response = await make();
    const made = { at, status: response.status, headers: [...response.headers], body: await response.text() };
    const leftMs = rested(key) - (now() - at);
    if (spent.size >= MOST_QUESTIONS) spent.clear();
    spent.set(key, { leftMs, at: now() });
    if (leftMs <= 0 && made.status === 200) mine.set(key, made);
    return made;
  };

  return {
    async answer(key, make) {
      const known = kept.get(key);
      if (known !== undefined && now() - known.at < OLDEST_MS && rested(key) <= 0) return told(known);
      let making = asked.get(key);
      if (making === undefined) {
        making = begin(key, make);
        asked.set(key, making);
      }
      return told(await making);
    },
    forget() {
      kept = new Map();
    },
  };
}

function told({ status, headers, body }: Made): Response {
  return new Response(body, { status, headers });
}
