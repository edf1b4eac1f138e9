import { testSmallForms } from './small-forms.ts';

await testSmallForms(48, 99);
