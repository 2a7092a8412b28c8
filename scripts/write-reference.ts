/**
 * `npm run reference`: writes the pages of docs/reference that are made from the code's own tables. The test of the
 * documents fails when one is out of date.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAdmin } from '../services/admin/run-admin.ts';
import { VARIABLES } from '../shared/runtime/environment.ts';
import { createMetrics } from '../shared/runtime/metrics.ts';

const FOLDER = join(import.meta.dirname, '../docs/reference');

/** The pages by their file names. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    'configuration.md': configuration(),
    'metrics.md': await metrics(),
    'admin.md': await adminCommands(),
  };
}

function configuration(): string {
  const defaults = VARIABLES.parse({}) as Record<string, unknown>;
  // The parent process sets FORUM_… for its children.
  const settings = Object.entries(VARIABLES.shape).filter(([name]) => !name.startsWith('FORUM_'));
  const rows = settings.map(([name, schema]) => [name, defaultText(defaults[name]), schema.description ?? '']);
  return `# Configuration

The service is configured by environment variables. A start checks them all before it starts anything: it reports every
fault with the name of its setting, then faults of several settings together, and exits with 1. A misspelt name is
ignored. Servers that are named here are asked once; one that refuses its password ends the start, and one that does not
answer is waited for.

${table(['Setting', 'Default', 'Meaning'], rows)}
`;
}

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

async function metrics(): Promise<string> {
  const found = await createMetrics().registry.getMetricsAsJSON();
  const rows = found.map(({ name, type, help }) => [`\`${name}\``, String(type), help]);
  return `# Metrics

Prometheus reads them from \`/metrics\` at METRICS_PORT. The name comes first, then what it means and what to do about it.

${table(['Metric', 'Type', 'Meaning'], rows)}
`;
}

async function adminCommands(): Promise<string> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: (line: string) => lines.push(line) };
  await runAdmin(['--help'], {}, terminal);
  return `# Admin commands

\`\`\`
${lines.join('\n').trim()}
\`\`\`
`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(await referencePages())) writeFileSync(join(FOLDER, file), text);
}
