/**
 * The modules of the API, which take four times as long to load as those of any other service: processes without it do
 * not load them.
 */
export async function loadApi() {
  const { ensureDemoAccount } = await import('./api/demo-account.ts');
  const { startMatchWakeUps } = await import('./api/live-tail/match-wake-ups.ts');
  const { startApi } = await import('./api/start-api.ts');
  return { ensureDemoAccount, startMatchWakeUps, startApi };
}
