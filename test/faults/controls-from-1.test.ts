import { testControls } from './test-controls.ts';

await testControls(1, 12);
