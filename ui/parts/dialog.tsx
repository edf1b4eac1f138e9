import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  label: string;
  class?: string;
  onClose(): void;
  children: ComponentChildren;
}

/** Shows a native dialog, which keeps the focus inside, closes with Esc and restores the focus. */
export function Dialog({ label, class: name = '', onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // The dialog opens at once, so that the next key already goes to it.
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
