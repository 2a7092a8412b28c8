/**
 * Verifies codes as fast as possible until it is killed. Runs as a separate process. Its argument is JSON:
 * {postgresUrl, codes: [[token, code], …]}. It prints `begun` when the first code is answered.
 */
import { createVerifyCode } from '../../../services/api/signup/verify-code.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { APP_URL, BASE_URL, SECRET_KEY } from '../fixtures/signup-app.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

const { postgresUrl, codes } = JSON.parse(process.argv[2]!) as { postgresUrl: string; codes: [string, string][] };
const logger = silentLogger();
const verify = createVerifyCode({
  pool: createPool({ url: postgresUrl, name: 'killed-signup', logger, max: 8 }),
  logger,
  mailer: { send: () => Promise.reject(new Error('nothing is mailed here')) },
  secretKey: SECRET_KEY,
  signup: { enabled: true, perHour: 1, signInPerHour: 1, perNetwork: 1 },
  acceptsMail: undefined,
  baseUrl: BASE_URL,
  appUrl: APP_URL,
  dashboardUrl: 'https://app.example.com',
});

const waiting = [...codes];
async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [signup_token, code] = next;
    await verify({ signup_token, code }).catch(() => undefined);
    process.stdout.write('begun\n');
  }
}
await Promise.all(Array.from({ length: 8 }, work));
process.exit(0);
