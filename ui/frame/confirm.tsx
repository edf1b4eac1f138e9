import { useSignal } from '@preact/signals';
import { Cli } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SHARED } from '../words/shared.ts';
import { question } from './question.ts';

export function Confirm() {
  const asked = question.value;
  return asked === null ? null : <Asked key={asked.title} {...asked} />;
}

function Asked({ title, detail, cli, button, danger, word, answer }: NonNullable<typeof question.value>) {
  const typed = useSignal('');
  const ready = word === null || typed.value.trim() === word;
  return (
    <Dialog label={title} class="confirm" onClose={() => answer(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) answer(true);
        }}
      >
        <h2>{title}</h2>
        <p>{detail}</p>
        <Cli text={cli} />
        {word === null ? null : (
          <label class="field">
            {SHARED.typeToConfirm(word)}
            <input
              value={typed.value}
              autocomplete="off"
              autofocus
              onInput={(event) => {
                typed.value = event.currentTarget.value;
              }}
            />
          </label>
        )}
        <div class="buttons">
          <button type="button" autofocus={word === null} onClick={() => answer(false)}>
            {SHARED.goBack}
          </button>
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={!ready}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
