import { copy } from '../parts/copy.tsx';
import { Menu } from '../parts/menu.tsx';
import type { Job } from '../types.ts';
import { MENUS } from '../words/jobs.ts';
import { csvOf } from './columns.tsx';

/** Copies the rows that are shown, or the command that lists all of them. */
export function CopyMenu({ jobs, columns, cli }: { jobs: Job[]; columns: string[]; cli: string }) {
  const ways: [string, () => string][] = [
    [MENUS.copyCli, () => cli],
    [MENUS.copyJson, () => JSON.stringify(jobs, null, 2)],
    [MENUS.copyCsv, () => csvOf(jobs, columns)],
    [MENUS.copyIds, () => jobs.map((job) => job.id).join('\n')],
  ];
  return (
    <Menu label={MENUS.copy} icon="copy">
      {ways.map(([label, text]) => (
        <button key={label} type="button" class="plain" onClick={() => copy(text())}>
          {label}
        </button>
      ))}
    </Menu>
  );
}
