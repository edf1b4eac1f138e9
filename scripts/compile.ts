/** Compiles a program into an executable file: compile.ts PROGRAM FILE [ORDER]. ORDER lists the functions whose bytecode is put together. */
import { compiledBuild } from './executable.ts';

const [program, file, order] = process.argv.slice(2);
await Bun.build(compiledBuild(program!, file!, order));
