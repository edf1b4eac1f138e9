/** Icons are drawn as paths, because fonts differ in the symbols that they have. */
const PATHS = {
  pending: 'M8 4.2V8l2.4 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z',
  processing: 'M6 4.5v7l5.5-3.5zM14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0Z',
  completed: 'M3.5 8.5l3 3 6-7',
  failed: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3.2H9.8',
  dead: 'M4 4l8 8M12 4l-8 8',
  cancelled: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM3.8 12.2l8.4-8.4',
  overview: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  jobs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  dlq: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5v4h11v-4M2.5 9.5l2-6h7l2 6',
  queues: 'M2.5 3.5h11v3h-11zM2.5 9.5h11v3h-11z',
  schedules: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2v3M10.5 2v3',
  workers:
    'M4.5 4.5h7v7h-7zM6.5 1.8v2.7M9.5 1.8v2.7M6.5 11.5v2.7M9.5 11.5v2.7M1.8 6.5h2.7M1.8 9.5h2.7M11.5 6.5h2.7M11.5 9.5h2.7',
  stats: 'M2.5 2.5v11h11M5 10.5l2.5-3 2 1.8L13 5',
  activity: 'M1.8 8h3l2-4.5 2.8 9L11.5 8h2.7',
  settings:
    'M2.5 4.5h6M12 4.5h1.5M2.5 11.5h1.5M7.5 11.5h6M8.7 4.5a1.6 1.6 0 1 0 3.2 0 1.6 1.6 0 1 0-3.2 0M4.2 11.5a1.6 1.6 0 1 0 3.2 0 1.6 1.6 0 1 0-3.2 0',
  doctor: 'M8 3v10M3 8h10',
  search: 'M11.5 11.5 14 14M12.5 7.2a5.2 5.2 0 1 1-10.5 0 5.2 5.2 0 0 1 10.5 0Z',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  theme: 'M8 2.5v11M8 2.5a5.5 5.5 0 0 1 0 11 5.5 5.5 0 0 1 0-11',
  keyboard: 'M1.5 4.5h13v7.5h-13zM4 7h.1M6.6 7h.1M9.3 7h.1M12 7h.1M5 9.6h6',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8z',
  download: 'M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11',
  warning: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.7v.1',
  down: 'M4 6l4 4 4-4',
  logout: 'M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
