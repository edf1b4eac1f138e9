import { jobObject } from '../../actions/jobs.ts';
import { runSchedule } from '../../actions/schedules.ts';
import { defineCommand } from '../command.ts';
import { describeAdded } from '../describe-added.ts';
import { printResult } from '../print-result.ts';

export default defineCommand({
  name: 'schedule run',
  summary: "Enqueue a schedule's job now",
  args: 'NAME',
  access: 'write',
  prints: { object: 'Job' },
  examples: ['queuectl schedule run nightly'],
  notes: ['This also works while the schedule is paused. It does not affect the regular runs.'],
  async run({ io, app }, input) {
    const name = input.required(0, 'the schedule name', 'to list the schedules: queuectl schedule list');
    const opened = await app();
    const job = await runSchedule(opened, name);
    printResult(io, await jobObject(opened, job), describeAdded(job, Date.now()), job.id);
  },
});
