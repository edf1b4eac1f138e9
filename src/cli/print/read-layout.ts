import { invalidValue, usageError } from '../../core/errors.ts';
import { factNamed } from '../../core/jobs/foreign-fields.ts';
import { didYouMean } from '../../core/text/nearest.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { SCHEMAS } from '../../http/schemas.ts';
import type { Command, Input } from '../frame/command.ts';
import type { Format, Layout, TimeStyle } from './layout.ts';
import { TIME_FLAGS } from './print-list.ts';

export const FORMATS = ['table', 'tsv', 'csv', 'json', 'jsonl', 'ids'] as const;
const TIME_STYLES = TIME_FLAGS.time!.value!.split('|') as TimeStyle[];

/** Reads the flags for the output format. Throws if some of them contradict each other. */
export function readLayout(command: Command, input: Input): Layout {
  const fields = chosenFields(command, input);
  const layout: Layout = {
    format: input.has('format') ? readFormat(input.one('format')!, command) : null,
    fields: fields.length === 0 ? null : fields,
    time: input.has('time') ? readTimeStyle(input.one('time')!) : null,
    utc: input.has('utc'),
    header: input.has('header'),
    wide: input.has('wide'),
  };
  refuseContradictions(layout, input);
  return layout;
}

/** Returns the fields that can be selected from the objects that a command prints as JSON. Throws if it has none. */
export function fieldsOf({ name: commandName, prints }: Command): string[] {
  if (prints === undefined)
    throw usageError(
      `${commandName} does not support --json with fields`,
      `to print all fields: queuectl ${commandName} --json`,
    );
  const schema = prints.object === undefined ? {} : SCHEMAS[prints.object]!.properties;
  return [...new Set([...Object.keys(schema as object), ...(prints.fields ?? [])])];
}

function chosenFields(command: Command, input: Input): string[] {
  const given = input.all('json').filter(Boolean);
  if (given.length === 0) return [];
  const known = fieldsOf(command);
  const fields = given.flatMap((text) => text.split(',')).map((field) => field.trim());
  for (const field of fields) checkField(field, known, command, '--json');
  return [...new Set(fields)];
}

function checkField(field: string, known: string[], { name: commandName }: Command, flag: string): void {
  if (known.includes(field)) return;
  const ownName = factNamed(field);
  const meant =
    ownName !== null && known.includes(ownName) ? `; did you mean '${ownName}'?` : didYouMean(field, known);
  throw invalidValue(
    `${flag}: unknown field '${field}'${meant}`,
    `to list the fields: queuectl ${commandName} --json=help`,
  );
}

function readFormat(text: string, command: Command): Format {
  const named = FORMATS.find((name) => name === text);
  if (named !== undefined) return named;
  // A name in braces must be a field. Any other text in braces is printed as it is.
  const parts = text.split(/\{([a-z]\w*)\}/i);
  if (parts.length === 1) {
    const [first, second] = fieldsOf(command);
    throw invalidValue(
      `--format must be one of ${FORMATS.join(', ')} or a template with fields in braces, not '${text}'${didYouMean(text, FORMATS)}`,
      `for example: queuectl ${command.name} --format ${shellWord(`{${first}}\\t{${second}}`)}`,
    );
  }
  const known = fieldsOf(command);
  return parts.map((part, i) => {
    if (i % 2 === 0) return part.replace(/\\([tn\\])/g, (_, char: string) => ESCAPES[char]!);
    checkField(part, known, command, '--format');
    return { field: part };
  });
}

/** The characters for the escapes in a template, which a shell does not expand in single quotes. */
const ESCAPES: Record<string, string> = { t: '\t', n: '\n', '\\': '\\' };

function readTimeStyle(text: string): TimeStyle {
  const style = TIME_STYLES.find((one) => one === text);
  if (style !== undefined) return style;
  throw invalidValue(
    `--time must be one of ${TIME_STYLES.join(', ')}, not '${text}'${didYouMean(text, TIME_STYLES)}`,
  );
}

function refuseContradictions({ format, time, utc, header }: Layout, input: Input): void {
  const json = input.has('json') || format === 'json' || format === 'jsonl';
  const ids = format === 'ids' || (input.has('quiet') && !json);
  const refuse = (problem: string): never => {
    throw usageError(problem, 'for help: queuectl help formatting');
  };
  if (input.has('json') && format !== null) refuse('--json and --format cannot be combined');
  if (input.has('quiet') && format !== null && format !== 'ids')
    refuse('--quiet prints only ids and cannot be combined with --format');
  if (header && (json || ids || Array.isArray(format)))
    refuse('--header requires --format tsv or --format csv');
  if ((time !== null || utc) && (json || ids))
    refuse('--time and --utc have no effect on JSON and ids. Times in JSON are always ISO 8601 in UTC');
  if (utc && (time === 'relative' || time === 'unix'))
    refuse(`--utc and --time ${time} cannot be combined, because ${time} times have no time zone`);
}
