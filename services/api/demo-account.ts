import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findAccount, lockAccount, openAccount } from '../../shared/accounts/accounts.ts';
import { findApiKey, issueApiKey, revokeApiKeys } from '../../shared/accounts/api-keys.ts';
import { apiKeyId, isApiKey } from '../../shared/accounts/rules/credentials.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { errorCode } from '../../shared/runtime/errors.ts';

const EMAIL = 'demo@localhost';
const KEY_NAME = 'demo';
const KEY_FILE = 'demo-key';

export interface DemoAccount {
  apiKey: string;
  /** Absolute path of the key file; its mode is 0600. */
  keyFile: string;
}

/**
 * Creates the account that newcomers try the service with: the $79 plan and 70,000 credits, granted once in the
 * lifetime of a database. Its key is in a file of the data directory. When the file is lost or its key no longer works,
 * the old key is revoked and a new one issued. Only for installations with embedded engines: a production database must
 * not have a key on disk.
 */
export async function ensureDemoAccount(pool: Pool, options: { dataDir: string }): Promise<DemoAccount> {
  const keyFile = join(options.dataDir, KEY_FILE);
  const stored = await readKeyFile(keyFile);
  if (stored !== undefined && (await works(pool, stored))) return { apiKey: stored, keyFile };
  // A crash before the file is written leaves a key that nobody has; the next start revokes it here.
  const apiKey = await issueDemoKey(pool);
  await writeKeyFile(keyFile, apiKey);
  return { apiKey, keyFile };
}

async function readKeyFile(keyFile: string): Promise<string | undefined> {
  try {
    return (await readFile(keyFile, 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function works(pool: Pool, apiKey: string): Promise<boolean> {
  const id = apiKeyId(apiKey);
  const found = id === undefined ? undefined : await findApiKey(pool, id);
  return found !== undefined && isApiKey(apiKey, found.hash);
}

function issueDemoKey(pool: Pool): Promise<string> {
  return inTransaction(pool, async (client) => {
    const opened = await openAccount(client, { email: EMAIL, credits: 70_000, pack: 79, keyName: KEY_NAME });
    if (opened) return opened.apiKey;
    const account = await findAccount(client, EMAIL);
    if (!account) throw new Error('the demo account was removed while its key was being created');
    await lockAccount(client, account.id);
    await revokeApiKeys(client, account.id, KEY_NAME);
    return issueApiKey(client, account.id, KEY_NAME);
  });
}

/** Writes atomically, so that no reader sees half a key. */
async function writeKeyFile(keyFile: string, apiKey: string): Promise<void> {
  const draft = `${keyFile}.${randomUUID()}`;
  await writeFile(draft, `${apiKey}\n`, { mode: 0o600 });
  await rename(draft, keyFile);
}
