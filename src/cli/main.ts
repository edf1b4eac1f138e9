#!/usr/bin/env node
import { setProcessName } from '../exec/process-name.ts';
import { run } from './run.ts';

setProcessName();

// Results were written synchronously (cli/io.ts) and logs were flushed, so nothing is cut off. A worker that leaves
// jobs running must not wait for them.
process.exit(await run(process.argv.slice(2), process.env));
