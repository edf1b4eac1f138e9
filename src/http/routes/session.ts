import { integer, oneOf, record, text } from '../../core/schema.ts';
import { refuse } from '../problem.ts';
import { del, json, post, type Route } from '../route.ts';
import { IDLE_MS } from '../sessions.ts';
import { ROLES } from '../token.ts';

export const SESSION_ROUTES: Route[] = [
  post('/api/v1/session', {
    summary: 'Log in: exchange the token for a session',
    access: 'read',
    answers: {
      201: {
        description: 'the session, which is sent as a bearer token',
        schema: record({ session: text, role: oneOf(ROLES), idle_timeout_ms: integer }),
      },
    },
    handle: async ({ serving, grant }) =>
      json({ session: serving.access.logIn(grant), role: grant.role, idle_timeout_ms: IDLE_MS }, 201),
  }),
  del('/api/v1/session', {
    summary: "Log out: end this request's session and its event streams",
    access: 'read',
    answers: { 204: { description: 'the session has ended', schema: null } },
    async handle({ grant }) {
      if (grant.session === null)
        refuse('invalid-request', 'this request uses a token, not a session, so it cannot log out');
      grant.session.end();
      return new Response(null, { status: 204 });
    },
  }),
];
