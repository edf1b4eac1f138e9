import { SHORTCUTS } from '../keys.ts';
import { helpOpen } from '../overlays.ts';
import { Dialog } from './dialog.tsx';

const close = (): void => {
  helpOpen.value = false;
};

export function Help() {
  if (!helpOpen.value) return null;
  return (
    <Dialog label="Keyboard shortcuts" class="help" onClose={close}>
      <h2>Keyboard</h2>
      <dl>
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
