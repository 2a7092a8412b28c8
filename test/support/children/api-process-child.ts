/**
 * The API over a simulated forum in a separate process. Its argument is JSON: {databaseUrl, limits}. It sends its URL
 * when it listens.
 */
import { BACKGROUND_LIMITS, createPool } from '../../../shared/postgres/pool.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { startTestApi } from '../fixtures/test-api.ts';
import type { TestApiOptions } from '../fixtures/test-api.ts';
import { startTestForum } from '../fakes/test-forum.ts';

const { databaseUrl, limits } = JSON.parse(process.argv[2]!) as { databaseUrl: string; limits?: 'plans' };
const pool = createPool({
  url: databaseUrl,
  name: 'api-process',
  logger: silentLogger(),
  max: 20,
  // Tests send hundreds of requests at once.
  limits: { ...BACKGROUND_LIMITS, connectMs: 60_000 },
});
const { forum } = await startTestForum();
const options: TestApiOptions = { forum, ...(limits === undefined ? {} : { limits }) };
const api = await startTestApi(pool, options);
// This process ends when its parent ends.
process.once('disconnect', () => process.exit());
process.send!({ url: api.url });
