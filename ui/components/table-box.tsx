import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Shows a table whose header stays visible: below the top bar, or at the top
 * of its own box if the table is wider than the page. That box scrolls in both directions.
 */
export function TableBox({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const scrolls = useSignal(false);
  useLayoutEffect(() => {
    const measure = (): void => {
      const table = box.current!.querySelector('table')!;
      scrolls.value = table.offsetWidth >= box.current!.offsetWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    observer.observe(box.current!.querySelector('table')!);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} class={scrolls.value ? 'table scrolls' : 'table'}>
      {children}
    </div>
  );
}
