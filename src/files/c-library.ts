import { orNull } from '../core/or-null.ts';

/* The numbers of the types of C, as the runtime numbers them. */
const INT = 5;
const UINT = 6;
const POINTER = 12;

type Call = (...args: (number | Uint8Array)[]) => number;
type CLibrary = Record<'fcntl' | 'renameat2', Call>;
interface Ffi {
  dlopen(name: string, signatures: object): { symbols: CLibrary };
}

let functions: CLibrary | null | undefined;

/** Returns functions of the C library that `node:fs` does not offer. Null in Node, and on systems other than Linux. */
export function cLibrary(): CLibrary | null {
  if (functions === undefined) functions = process.platform === 'linux' ? orNull(load) : null;
  return functions;
}

function load(): CLibrary {
  const { FFI } = (globalThis as unknown as { Bun: { FFI: Ffi } }).Bun;
  // The runtime has loaded the library already, so no other file of this name is looked for.
  return FFI.dlopen('libc.so.6', {
    fcntl: { args: [INT, INT, INT], returns: INT },
    renameat2: { args: [INT, POINTER, INT, POINTER, UINT], returns: INT },
  }).symbols;
}
