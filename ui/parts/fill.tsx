import type { ComponentChildren } from 'preact';

interface FillProps {
  text: string;
  [name: string]: ComponentChildren;
}

/** Shows a text with each `{name}` replaced by the node of that name. */
export function Fill({ text, ...nodes }: FillProps) {
  return <>{text.split(/\{(\w+)\}/).map((part, i) => (i % 2 === 0 ? part : nodes[part]))}</>;
}
