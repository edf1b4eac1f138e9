import { useSignal } from '@preact/signals';
import { mounted } from '../frame/mount.ts';
import { go, place } from '../frame/router.ts';
import { copy } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { notify } from '../parts/toasts.ts';
import { MENUS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { dropView, hrefOf, MOST_VIEWS, saveView, views } from './views.ts';

/** Saves lists of jobs under a name in this browser. A link to one contains its whole query. */
export function ViewMenu() {
  const { query } = place.value;
  const current = query.get('view');
  const name = useSignal('');
  const written = name.value.trim() || current || '';
  const full = views.value.length >= MOST_VIEWS && !views.value.some((one) => one.name === written);
  const plain = new URLSearchParams(query);
  for (const field of ['view', 'cursor']) plain.delete(field);
  const save = (event: Event): void => {
    event.preventDefault();
    if (written === '' || full) return;
    saveView(written, plain.toString());
    notify(MENUS.viewSaved(written));
    name.value = '';
    go(hrefOf({ name: written, query: plain.toString() }), 'replace');
  };
  return (
    <Menu label={current ?? MENUS.views} icon="overview">
      {views.value.length === 0 ? <p class="faint">{MENUS.noViews}</p> : null}
      <ul>
        {views.value.map((view) => (
          <li key={view.name}>
            <a href={hrefOf(view)} aria-current={view.name === current ? 'true' : undefined}>
              {view.name}
            </a>
            <button type="button" class="plain" onClick={() => dropView(view.name)}>
              <Icon name="close" />
              <span class="hidden">{MENUS.deleteView(view.name)}</span>
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={save}>
        <input
          class="small"
          aria-label={MENUS.viewName}
          placeholder={current ?? MENUS.viewName}
          maxLength={60}
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="small" disabled={written === '' || full}>
          {SHARED.save}
        </button>
      </form>
      {full ? <p class="faint">{MENUS.tooManyViews(MOST_VIEWS)}</p> : null}
      <button
        type="button"
        class="small"
        onClick={() =>
          copy(location.origin + mounted(hrefOf({ name: written || 'shared', query: plain.toString() })))
        }
      >
        {MENUS.copyLink}
      </button>
    </Menu>
  );
}
