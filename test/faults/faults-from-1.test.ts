import { testSmallRuns } from './small-runs.ts';

await testSmallRuns(1, 12);
