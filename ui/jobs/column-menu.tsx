import { go, withQuery } from '../frame/router.ts';
import { Menu } from '../parts/menu.tsx';
import { MENUS } from '../words/jobs.ts';
import { COLUMNS, chooseColumns } from './columns.tsx';

/** Selects the columns of the table of jobs. */
export function ColumnMenu({ columns }: { columns: string[] }) {
  const toggle = (name: string): void => {
    const next = columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name];
    go(withQuery({ columns: chooseColumns(next) }), 'replace');
  };
  return (
    <Menu label={MENUS.columns} icon="settings">
      {Object.entries(COLUMNS).map(([name, { title }]) => (
        <label key={name} class="choice">
          <input
            type="checkbox"
            checked={columns.includes(name)}
            disabled={name === 'job'}
            onChange={() => toggle(name)}
          />
          {title}
        </label>
      ))}
    </Menu>
  );
}
