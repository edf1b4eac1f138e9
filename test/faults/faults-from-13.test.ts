import { testSmallRuns } from './small-runs.ts';

await testSmallRuns(13, 26);
