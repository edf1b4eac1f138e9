import { VERSION } from '../../core/version.ts';
import { defineCommand } from '../frame/command.ts';
import { printJson } from '../print/layout.ts';

export default defineCommand({
  name: 'version',
  summary: 'Print the version',
  flags: { licenses: { help: 'print the licenses of the third-party software in queuectl' } },
  prints: { fields: ['version', 'runtime', 'sqlite', 'schema', 'platform', 'licenses'] },
  examples: ['queuectl version', 'queuectl version --json', 'queuectl version --licenses'],
  notes: ['With --json, the output includes the versions of the runtime, SQLite and the database schema.'],
  async run({ io }, input) {
    const notices = input.has('licenses') ? (await import('../licenses.generated.ts')).NOTICES : null;
    if (!io.json) {
      io.out(notices === null ? `${VERSION}\n` : notices.map(noticeText).join('\n'));
      return;
    }
    const { SCHEMA_VERSION } = await import('../../store/schema/version.ts');
    const { bun, node } = process.versions;
    const about = {
      version: VERSION,
      runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
      sqlite: process.versions.sqlite ?? null,
      schema: SCHEMA_VERSION,
      platform: `${process.platform} ${process.arch}`,
      ...(notices === null ? {} : { licenses: notices }),
    };
    printJson(io, about);
  },
});

function noticeText({ name, version, license, text }: Record<string, string>): string {
  const title = `${name} ${version} (${license})`;
  return `${title}\n${'='.repeat(title.length)}\n\n${text}\n`;
}
