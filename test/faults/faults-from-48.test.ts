import { testSmallRuns } from './small-runs.ts';

await testSmallRuns(48, 99);
