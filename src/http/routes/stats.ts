import { stats } from '../../actions/stats.ts';
import { statsSeries } from '../../actions/stats-series.ts';
import { PERIODS, type Period } from '../../core/figures.ts';
import { ref } from '../../core/schema.ts';
import { refuse } from '../problem.ts';
import { booleanOf } from '../query.ts';
import { get, json, type Route } from '../route.ts';

export const STATS_ROUTES: Route[] = [
  get('/api/v1/stats', {
    summary: 'Show job counts, success rate, wait and run times, and throughput',
    answers: { 200: { description: 'the statistics', schema: ref('Stats') } },
    handle: async ({ app }) => json(await stats(app)),
  }),
  get('/api/v1/stats/series', {
    summary: 'Show statistics over time: counts by outcome, and percentiles of wait and run times',
    query: {
      range: `${Object.keys(PERIODS).join(', ')} (24h)`,
      queue: 'only jobs in this queue',
      name: 'only jobs with this name',
      names: 'true to include totals by queue and name',
    },
    answers: { 200: { description: 'the time steps of the range, oldest first', schema: ref('Series') } },
    async handle({ app, one }) {
      const options = { queue: one('queue'), name: one('name'), withNames: booleanOf(one, 'names') };
      return json(await statsSeries(app, rangeOf(one('range') ?? '24h'), options));
    },
  }),
];

function rangeOf(text: string): Period {
  return Object.hasOwn(PERIODS, text)
    ? (text as Period)
    : refuse('invalid-value', `range must be one of ${Object.keys(PERIODS).join(', ')}`);
}
