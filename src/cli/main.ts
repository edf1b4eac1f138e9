#!/usr/bin/env node
import { setProcessName } from '../exec/program.ts';
import { run } from './frame/run.ts';

setProcessName(process.env);

// The exit is explicit, because a worker that leaves jobs running must not wait for them. It cuts nothing off: results
// were written synchronously (cli/frame/io.ts), and logs were flushed.
process.exit(await run(process.argv.slice(2), process.env));
