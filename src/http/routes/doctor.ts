import { diagnose } from '../../actions/doctor.ts';
import { ref } from '../../core/schema.ts';
import { VERSION } from '../../core/version.ts';
import { booleanOf } from '../query.ts';
import { get, json, type Route } from '../route.ts';

export const DOCTOR_ROUTES: Route[] = [
  get('/api/v1/doctor', {
    summary: 'Check the installation and the whole database, and suggest fixes',
    query: { quick: 'true to skip reading the whole database' },
    answers: { 200: { description: 'the findings', schema: ref('Doctor') } },
    async handle({ serving, app, one }) {
      const checks = await diagnose(serving.location, app.clock.now(), !booleanOf(one, 'quick'));
      return json({ version: VERSION, ok: checks.every((check) => check.status !== 'fail'), checks });
    },
  }),
];
