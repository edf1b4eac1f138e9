/** The flags that build the executable. docs/internals/executable.md gives the reason for each of them. */
export const EXECUTABLE_FLAGS = [
  ...[
    '--compile',
    '--minify',
    '--bytecode',
    '--format=esm',
    '--splitting',
    '--min-chunk-size=65536',
    '--sourcemap',
    '--reject-unresolved',
  ],
  ...[
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    '--compile-exec-argv=--unhandled-rejections=throw',
    '--compile-jit-policy=4',
  ],
];
