/** How the executable is compiled. Each flag has its reason: see "The executable" in docs/architecture.md. */
export const EXECUTABLE = [
  ...[
    '--compile',
    '--minify',
    '--bytecode',
    '--format=esm',
    '--splitting',
    '--sourcemap',
    '--reject-unresolved',
  ],
  ...[
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    '--compile-exec-argv=--unhandled-rejections=throw',
  ],
];
