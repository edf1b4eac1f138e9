import { testControls } from './test-controls.ts';

await testControls(48, 99);
