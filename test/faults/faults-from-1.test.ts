import { testSmallForms } from './small-forms.ts';

await testSmallForms(1, 12);
