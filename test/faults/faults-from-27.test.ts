import { testSmallForms } from './small-forms.ts';

await testSmallForms(27, 47);
