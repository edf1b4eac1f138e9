import { defineCommand } from '../command.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'init',
  summary: 'Explain that queuectl needs no initialization',
  examples: ['queuectl init'],
  async run({ io, storeName }) {
    const location = await storeName();
    if (io.json) io.out(`${JSON.stringify({ location })}\n`);
    else
      io.out(
        `nothing to do: the first command that stores something creates the database (${printable(location)})\n`,
      );
    return 0;
  },
});
