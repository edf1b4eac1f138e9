import { diagnose } from '../../actions/doctor.ts';
import { ref } from '../../core/schema.ts';
import { VERSION } from '../../core/version.ts';
import { trueOrFalse } from '../query.ts';
import { json, type Route } from '../route.ts';

export const DOCTOR_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/doctor',
    summary: 'Check the installation and the whole database, and suggest fixes',
    access: 'look',
    query: { quick: 'true to skip reading the whole database' },
    answers: { 200: { description: 'the findings', schema: ref('Doctor') } },
    async handle({ serving, app, one }) {
      const checks = await diagnose(serving.location, app.clock.now(), !trueOrFalse(one, 'quick'));
      return json({ version: VERSION, ok: checks.every((one) => one.status !== 'fail'), checks });
    },
  },
];
