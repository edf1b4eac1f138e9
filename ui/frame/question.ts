import { signal } from '@preact/signals';

/** Asks for confirmation before an action that cannot be undone. */
export interface Question {
  title: string;
  detail: string;
  /** The same action as a command line. */
  cli: string;
  button: string;
  danger: boolean;
  /** The user has to type this first. */
  word: string | null;
  answer(yes: boolean): void;
}

export const question = signal<Question | null>(null);

export function ask(asked: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(yes) {
        question.value = null;
        resolve(yes);
      },
    };
  });
}
