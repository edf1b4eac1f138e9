import { expect, test } from 'bun:test';
import { checkLabel, checkRunsOn } from '../../src/core/runs-on.ts';

test.each(['gpu', 'A_1.b-2', 'host:build-3'])('a job can ask for %s', (text) => {
  expect(checkRunsOn(text, 'on')).toBe(text);
});

// No worker can have these, because its labels are separated by commas, and a hint with one of them must be safe to type.
test.each(['a,b', 'HOST:build-3', 'label:gpu', 'a b', 'x; reboot', 'host:'])(
  'a job cannot ask for %s',
  (text) => {
    expect(() => checkRunsOn(text, 'on')).toThrow();
  },
);

test.each(['', 'a b', 'a,b', 'host:build-3', 'none', '$(reboot)'])(
  "a worker cannot have the label '%s'",
  (text) => {
    expect(() => checkLabel(text, '--label')).toThrow('--label must not be');
  },
);
