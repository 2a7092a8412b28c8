import { readFileSync } from 'node:fs';

/** Reads the API key of the demo account, which the services create on their first start with embedded engines. */
export function readDemoKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the message to print once everything runs: the addresses, the demo key and a first command. */
export function banner(baseUrl: string, demoKey: string | undefined, seconds: number): string {
  const body = `'{"name":"rust","keywords":["rust"]}'`;
  const key = demoKey ?? 'YOUR_KEY';
  return [
    '',
    `The forum monitor is ready (${seconds.toFixed(1)} s).`,
    `  API       ${baseUrl}/v1`,
    `  docs      ${baseUrl}/docs`,
    demoKey === undefined
      ? '  key       npm run --silent admin -- account create --email you@example.com'
      : `  demo key  ${demoKey}`,
    '',
    'Create a monitor:',
    `  curl -s -X POST ${baseUrl}/v1/monitors -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d ${body}`,
    '',
  ].join('\n');
}
