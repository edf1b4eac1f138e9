#!/usr/bin/env node
import { run } from './run.ts';

// exitCode, never exit(): what was printed to a pipe would be cut off.
process.exitCode = await run(process.argv.slice(2), process.env);
