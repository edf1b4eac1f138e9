/** What a run of a fault came to. */
export interface Figures {
  jobs: number;
  faults: number;
  /** Empty when everything held. */
  violations: { kind: string; what: string }[];
  /** What else is worth a word in the table. */
  notes?: string;
}

/** One line of the catalogue: a fault, done small in `npm test` and in full by `npm run test:faults`. */
export interface Fault {
  id: string;
  title: string;
  small: number;
  full: number;
  /** Why this machine cannot do it; null: it can. */
  missing?: () => string | null | Promise<string | null>;
  /** `scale` is the number of rounds, jobs or kills; the seed decides everything that is left to chance. */
  run(scale: number, seed: number, program?: string): Promise<Figures>;
}

/** F7b is 7. */
export function numberOf({ id }: Fault): number {
  return Number.parseInt(id.slice(1), 10);
}
