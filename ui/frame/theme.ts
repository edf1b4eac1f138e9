import { effect, signal } from '@preact/signals';

const KEY = 'queuectl-theme';
const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const stored = localStorage.getItem(KEY) as Theme | null;
export const theme = signal<Theme>(stored !== null && THEMES.includes(stored) ? stored : 'auto');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
}
