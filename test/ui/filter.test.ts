import { expect, test } from 'bun:test';
import { listCommand } from '../../ui/frame/cli.ts';
import { filterBody, parseFilter, writeFilter } from '../../ui/jobs/filter.ts';

const CASES: [string, string][] = [
  ['', ''],
  ['holiday png', 'search=holiday+png'],
  ['queue:mail state:dead', 'queue=mail&state=dead'],
  ['waiting:held,no_worker', 'waiting_for=held%2Cno_worker'],
  ['error:"no space left" exit:28', 'error=no+space+left&exit-code=28'],
  ['attempts:>3 dur:>=5m', 'where=attempts%3E3%2Cduration%3E%3D5m'],
  ['tag:a=1 tag:b=2 older:2h', 'tag=a%3D1&tag=b%3D2&older-than=2h'],
  // Text with a colon that is not a facet stays text.
  ['http://example.org', 'search=http%3A%2F%2Fexample.org'],
];

test('the text of the search bar and the query of the address are converted into each other', () => {
  for (const [typed, query] of CASES) {
    expect(parseFilter(typed).toString()).toBe(query);
    expect(parseFilter(writeFilter(new URLSearchParams(query))).toString()).toBe(query);
  }
});

test('a facet without an operator means equal', () => {
  expect(parseFilter('prio:5').get('where')).toBe('priority=5');
});

test('a filter is converted into a command line and into the body of an operation', () => {
  const filter = parseFilter(`tag:a=1 tag:b=2 it's`);
  expect(listCommand(filter)).toBe(`queuectl list --tag a=1 --tag b=2 --search 'it'\\''s'`);
  expect(listCommand(parseFilter('waiting:no_worker'))).toBe('queuectl list --waiting-for no_worker');
  expect(filterBody(filter)).toEqual({ tag: ['a=1', 'b=2'], search: "it's" });
});
