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

/** A title of a column. Null leaves the column out. */
type Heading = string | { right: string } | null;

/** Returns the title of a column of numbers or times, which are aligned to the right. */
export const right = (title: string): Heading => ({ right: title });

interface TableProps {
  /** Further class names of the table. */
  look?: string;
  heads: Heading[];
  /** The rows. */
  children: ComponentChildren;
  /** Comes below the table. */
  after?: ComponentChildren;
}

export function Table({ look = '', heads, children, after }: TableProps) {
  return (
    <TableBox>
      <table class={`stack ${look}`}>
        <thead>
          <tr>
            {heads.map((head) => {
              if (head === null) return null;
              const [title, place] = typeof head === 'string' ? [head, undefined] : [head.right, 'right'];
              return (
                <th key={title} class={place}>
                  {title}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {after}
    </TableBox>
  );
}

export function NumberCell({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <td class="right number" data-label={label}>
      {children}
    </td>
  );
}
