/**
 * The API over a simulated forum in a separate process. Its argument is JSON: {databaseUrl, limits}. It sends its URL
 * when it listens.
 */
import { createPool } from '../../../shared/postgres/pool.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { startTestApi } from '../fixtures/test-api.ts';
import type { TestApiOptions } from '../fixtures/test-api.ts';
import { startTestForum } from '../fakes/test-forum.ts';

const { databaseUrl, limits } = JSON.parse(process.argv[2]!) as { databaseUrl: string; limits?: 'plans' };
const pool = createPool({ url: databaseUrl, name: 'api-process', logger: silentLogger(), max: 20 });
const { forum } = await startTestForum();
const options: TestApiOptions = { forum, ...(limits === undefined ? {} : { limits }) };
const api = await startTestApi(pool, options);
// This process ends when its parent ends.
process.once('disconnect', () => process.exit());
process.send!({ url: api.url });
