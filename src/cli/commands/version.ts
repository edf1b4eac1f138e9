import { VERSION } from '../../core/version.ts';
import type { Command } from '../command.ts';
import { jsonText } from '../layout.ts';

export default {
  name: 'version',
  summary: 'Print the version; with --json also of runtime, SQLite and schema',
  args: '',
  most: 0,
  flags: {},
  prints: { fields: ['version', 'runtime', 'sqlite', 'schema', 'platform'] },
  examples: ['queuectl version', 'queuectl version --json'],
  async run({ io }) {
    if (!io.json) {
      io.out(`${VERSION}\n`);
      return 0;
    }
    const { SCHEMA_VERSION } = await import('../../store/sqlite/migrate.ts');
    const { bun, node } = process.versions;
    const about = {
      version: VERSION,
      runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
      sqlite: process.versions.sqlite ?? null,
      schema: SCHEMA_VERSION,
      platform: `${process.platform} ${process.arch}`,
    };
    io.out(`${jsonText(io, about)}\n`);
    return 0;
  },
} satisfies Command as Command;
