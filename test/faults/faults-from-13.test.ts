import { testSmallForms } from './small-forms.ts';

await testSmallForms(13, 26);
