import { runSchedule } from '../../actions/schedules.ts';
import { toJobObject } from '../../core/job-object.ts';
import { defineCommand } from '../command.ts';
import { describeAdded } from '../describe-added.ts';
import { printResult } from '../print-changed.ts';

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
    const job = await runSchedule(await app(), name);
    printResult(io, toJobObject(job), describeAdded(job, Date.now()), job.id);
  },
});
