/** The figures of one run of a fault. */
export interface Figures {
  jobs: number;
  faults: number;
  /** Empty if every promise held. */
  violations: { kind: string; what: string }[];
  /** Details for the result column of the table of figures. */
  notes?: string;
}

/** One fault of the catalogue. */
export interface Fault {
  id: string;
  title: string;
  /** The scale in `npm run test:all` and that in `npm run test:faults`. */
  small: number;
  full: number;
  /** Returns why this machine cannot run the fault, or null if it can. */
  whySkipped?: () => string | null | Promise<string | null>;
  /** The unit of `scale` depends on the fault, such as rounds, jobs, kills or MiB. `program` replaces the executable. */
  run(scale: number, seed: number, program?: string): Promise<Figures>;
}

/** Returns a count with thousands separators, for the table of figures. */
export function formatCount(number: number): string {
  return number.toLocaleString('en');
}

/** Returns the number in an id: 7 for F7b. */
export function numberOf({ id }: Fault): number {
  return Number.parseInt(id.slice(1), 10);
}
