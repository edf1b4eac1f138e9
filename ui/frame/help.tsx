import { Dialog } from '../parts/dialog.tsx';
import { FRAME } from '../words/frame.ts';
import { SHARED } from '../words/shared.ts';
import { SHORTCUTS } from '../words/shortcuts.ts';
import { helpOpen } from './overlays.ts';

const close = (): void => {
  helpOpen.value = false;
};

export function Help() {
  return (
    <Dialog label={FRAME.shortcuts} class="help" onClose={close}>
      <h2>{FRAME.shortcuts}</h2>
      <dl>
        {SHORTCUTS.map(([keys, action]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={close}>
          {SHARED.close}
        </button>
      </div>
    </Dialog>
  );
}
