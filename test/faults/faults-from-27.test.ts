import { testSmallRuns } from './small-runs.ts';

await testSmallRuns(27, 47);
