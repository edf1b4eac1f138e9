import { signal } from '@preact/signals';

/** A question before something that cannot be undone. */
export interface Question {
  title: string;
  detail: string;
  /** The same on the command line. */
  cli: string;
  button: string;
  danger: boolean;
  /** Has to be typed first. */
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
