import { cancelJobs } from '../../actions/act.ts';
import { untilEnded } from '../../worker/orphans.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Stop jobs: a running one is ended, a waiting one never runs',
  done: 'cancelled',
  examples: [
    'queuectl cancel job1',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  async act(app, ids) {
    const acted = await cancelJobs(app, ids);
    const ending = acted.ending ?? [];
    const cancelled = await untilEnded(app, ending);
    // One that ended by itself in the last moment was not cancelled.
    const missed = ending.filter((id) => !cancelled.includes(id));
    return {
      ...acted,
      changed: [...acted.changed, ...cancelled],
      unchanged: [...acted.unchanged, ...missed],
    };
  },
});
