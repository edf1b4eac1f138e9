import { effect, signal } from '@preact/signals';
import { get } from '../api.ts';
import { token } from '../token.ts';

/** Whether this server can examine its store; asked once. */
export const hasDoctor = signal(false);

effect(() => {
  if (token.value === null) return;
  get('/doctor').then(
    () => {
      hasDoctor.value = true;
    },
    () => {},
  );
});
