import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  label: string;
  class?: string;
  onClose(): void;
  children: ComponentChildren;
}

/** The browser's own: it keeps the focus inside, closes with Esc and gives the focus back. */
export function Dialog({ label, class: name = '', onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // At once: the next key is already meant for it.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does it from the keyboard
    <dialog
      ref={ref}
      class={name}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
