/** The text that is shown in place of a secret. */
export const MASK = '•••';
/** The part that every URL with a masked password contains. */
const MASKED_URL = `:${MASK}@`;

/** Tells whether a text is the mask, or contains a URL with a masked password. */
export function holdsMask(text: string): boolean {
  return text === MASK || text.includes(MASKED_URL);
}
