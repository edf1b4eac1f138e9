import { testControls } from './test-controls.ts';

await testControls(13, 47);
