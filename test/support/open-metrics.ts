export interface Family {
  name: string;
  type: string;
  unit: string | null;
  help: string | null;
  samples: Sample[];
}

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SUFFIXES: Record<string, string[]> = {
  gauge: [''],
  unknown: [''],
  counter: ['_total', '_created'],
  histogram: ['_bucket', '_count', '_sum', '_created'],
};
const DESCRIPTION = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/;

/** Parses OpenMetrics text. Throws on invalid syntax, clashing names and inconsistent histograms. */
export function readOpenMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n# EOF\n')) throw new Error('does not end with # EOF');
  const families: Family[] = [];
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const description = DESCRIPTION.exec(line);
    if (description !== null) addDescription(families, description[1]!, description[2]!, description[3]!);
    else addSample(families, line);
  }
  const names = families.map((family) => family.name);
  if (new Set(names).size < names.length) throw new Error(`a family occurs twice: ${names}`);
  checkNameClashes(families);
  for (const family of families) checkFamily(family);
  return new Map(families.map((family) => [family.name, family]));
}

function addDescription(families: Family[], what: string, name: string, text: string): void {
  let family = families.at(-1);
  if (family?.name !== name) {
    family = { name, type: 'unknown', unit: null, help: null, samples: [] };
    families.push(family);
  }
  if (family.samples.length > 0) throw new Error(`${what} of ${name} comes after its samples`);
  if (what === 'TYPE') family.type = text;
  else if (what === 'HELP') family.help = text;
  else family.unit = text;
}

function addSample(families: Family[], line: string): void {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const [, name, labels = '', value] = match;
  const family = families.at(-1)!;
  const suffixes = SUFFIXES[family.type];
  if (!suffixes?.some((suffix) => family.name + suffix === name))
    throw new Error(`${name} does not belong to ${family.name} (${family.type})`);
  family.samples.push({ name: name!, labels: readLabels(labels), value: Number(value) });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ''; ) {
    const match = LABEL.exec(rest);
    if (match === null || match[1]! in labels) throw new Error(`bad labels: ${text}`);
    labels[match[1]!] = match[2]!.replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char));
    rest = rest.slice(match[0].length);
  }
  return labels;
}

/** Throws if two families can have samples with the same name. */
function checkNameClashes(families: Family[]): void {
  const owners = new Map<string, string>();
  for (const { name, type } of families) {
    for (const suffix of SUFFIXES[type] ?? []) {
      const taken = owners.get(name + suffix);
      if (taken !== undefined) throw new Error(`${name} clashes with ${taken}`);
      owners.set(name + suffix, name);
    }
  }
}

function checkFamily({ name, type, unit, help, samples }: Family): void {
  if (help === null) throw new Error(`${name} has no help`);
  if (unit !== null && !name.endsWith(`_${unit}`)) throw new Error(`${name} is not named after its unit`);
  const keys = samples.map((sample) => JSON.stringify([sample.name, Object.entries(sample.labels).sort()]));
  if (new Set(keys).size < keys.length) throw new Error(`${name} has a sample twice`);
  if (type === 'histogram') checkHistograms(name, samples);
}

function checkHistograms(name: string, samples: Sample[]): void {
  const key = ({ labels: { le, ...own } }: Sample): string => JSON.stringify(own);
  for (const one of new Set(samples.map(key))) {
    const own = samples.filter((sample) => key(sample) === one);
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const ends = buckets.map(({ labels }) => (labels.le === '+Inf' ? Infinity : Number(labels.le)));
    const counts = buckets.map((bucket) => bucket.value);
    const rises = (values: number[]): boolean => values.every((v, i) => i === 0 || v >= values[i - 1]!);
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    if (!rises(ends) || !rises(counts) || ends.at(-1) !== Infinity || counts.at(-1) !== count)
      throw new Error(`${name} ${one} is no histogram`);
  }
}

/** Returns the sum of a metric's samples with these labels. Throws if there are none. */
export function sampleValue(
  families: Map<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): number {
  const samples = [...families.values()].flatMap((family) => family.samples);
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  if (found.length === 0) throw new Error(`no ${name} with ${JSON.stringify(labels)}`);
  return found.reduce((sum, sample) => sum + sample.value, 0);
}
