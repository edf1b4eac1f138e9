import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

interface MenuProps {
  label: string;
  icon: IconName;
  children: ComponentChildren;
}

/** Places the menu below its button and inside the window, where no parent can cut it off. */
function place(menu: HTMLDetailsElement): void {
  const { right, bottom } = menu.getBoundingClientRect();
  const sheet = menu.querySelector<HTMLElement>('.sheet')!;
  const { width, height } = sheet.getBoundingClientRect();
  sheet.style.left = `${Math.max(EDGE, right - width)}px`;
  sheet.style.top = `${Math.max(EDGE, Math.min(bottom + 4, innerHeight - height - EDGE))}px`;
}

const EDGE = 8;

/** Shows a button that opens a menu. Esc, scrolling, or moving the focus elsewhere closes it. */
export function Menu({ label, icon, children }: MenuProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    ref.current!.open = false;
  };
  return (
    <details
      ref={ref}
      class="menu"
      onToggle={() => {
        if (!ref.current!.open) return;
        place(ref.current!);
        const scrolled = (event: Event): void => {
          if (ref.current?.contains(event.target as Node)) return;
          removeEventListener('scroll', scrolled, true);
          if (ref.current) close();
        };
        addEventListener('scroll', scrolled, true);
      }}
      onFocusOut={(event) => {
        if (!ref.current!.contains(event.relatedTarget as Node | null)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !ref.current!.open) return;
        event.stopPropagation();
        close();
        ref.current!.querySelector('summary')!.focus();
      }}
    >
      <summary class="button small">
        <Icon name={icon} />
        {label}
      </summary>
      {/* The sheet can have the focus, so that a click in it does not close the menu. */}
      <div class="sheet" tabIndex={-1}>
        {children}
      </div>
    </details>
  );
}
