import { readFileSync } from 'node:fs';

/** Reads the API key of the demo account, which the services create on their first start with embedded engines. */
export function readDemoKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

const SIGN_IN = [
  'Sign in to the dashboard with any address (its mail is written to the data directory), or as the demo account:',
  '  npm run --silent admin -- account sign-in-link --email demo@localhost',
].join('\n');

/** Returns the message to print once everything runs: the addresses, the demo key and a first command. */
export function banner(
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
  demoKey: string | undefined,
  seconds: number,
): string {
  const body = `'{"name":"rust","keywords":["rust"]}'`;
  const key = demoKey ?? 'YOUR_KEY';
  return [
    '',
    `The forum monitor is ready (${seconds.toFixed(1)} s).`,
    `  API       ${baseUrl}/v1`,
    `  docs      ${baseUrl}/docs`,
    `  dashboard ${dashboardUrl}/dashboard`,
    demoKey === undefined
      ? '  key       npm run --silent admin -- account create --email you@example.com'
      : `  demo key  ${demoKey}`,
    '',
    ...(demoKey === undefined ? [] : [SIGN_IN, '']),
    'Create a monitor:',
    `  curl -s -X POST ${baseUrl}/v1/monitors -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d ${body}`,
    '',
  ].join('\n');
}
