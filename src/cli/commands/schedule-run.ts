import { jobObject } from '../../actions/jobs.ts';
import { runSchedule } from '../../actions/schedules.ts';
import { required } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { describeAdded } from '../describe-added.ts';
import { jsonText } from '../layout.ts';

export default defineCommand({
  name: 'schedule run',
  summary: "Enqueue a schedule's job now",
  args: 'NAME',
  most: 1,
  access: 'write',
  flags: {},
  prints: { object: 'Job' },
  examples: ['queuectl schedule run nightly'],
  notes: ['This also works while the schedule is paused. It does not affect the regular runs.'],
  async run({ io, app }, input) {
    const name = required(input, 0, 'the schedule name', 'queuectl schedule list');
    const opened = await app();
    const job = await runSchedule(opened, name);
    if (io.json) io.out(`${jsonText(io, await jobObject(opened, job))}\n`);
    else if (!io.tty || io.quiet) io.out(`${job.id}\n`);
    else io.out(describeAdded(job, Date.now()));
    return 0;
  },
});
