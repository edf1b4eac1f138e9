import { csvOf } from '../columns.tsx';
import type { Job } from '../types.ts';
import { copy } from './copy.tsx';
import { Menu } from './menu.tsx';

/** The rows that are shown, or the command that lists them all. */
export function CopyMenu({ jobs, columns, cli }: { jobs: Job[]; columns: string[]; cli: string }) {
  const ways: [string, () => string][] = [
    ['as CLI', () => cli],
    ['as JSON', () => JSON.stringify(jobs, null, 2)],
    ['as CSV', () => csvOf(jobs, columns)],
    ['the ids', () => jobs.map((job) => job.id).join('\n')],
  ];
  return (
    <Menu label="Copy" icon="copy">
      {ways.map(([label, text]) => (
        <button key={label} type="button" class="plain" onClick={() => copy(text())}>
          {label}
        </button>
      ))}
    </Menu>
  );
}
