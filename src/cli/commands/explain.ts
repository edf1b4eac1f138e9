import { explain } from '../../actions/explain.ts';
import { findJobId } from '../../actions/select.ts';
import { defineCommand } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'explain',
  summary: 'Explain why a job is not running',
  args: 'ID',
  prints: { object: 'Explanation' },
  examples: ['queuectl explain job1', 'queuectl explain @last'],
  async run({ io, app }, input) {
    const reference = input.required(0, 'the job id', 'to list the jobs: queuectl list');
    const opened = await app();
    const result = await explain(opened, await findJobId(opened, reference));
    if (io.json) io.out(`${jsonText(io, result)}\n`);
    else io.out(`${result.reasons.map(printable).join('\n')}\n`);
  },
});
