/** The type of a job is derived from code that uses this global of Node. The dashboard itself does not use it. */
declare const Buffer: { byteLength(text: string): number };
