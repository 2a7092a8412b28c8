import { CommunityDirectory } from '../../../services/simulator/content/community-directory.ts';
import type { Installation } from '../../support/children/installation.ts';

export const COMMUNITIES = 2_000;
/** Communities by their rank: busier ones would bring a monitor over its daily cap. */
const RANKS = [40, 400] as const;
/** Words of the simulator's texts: the first five are in one text of fifty, the others in one of three to ten. */
const WORDS = [
  'rust',
  'coffee',
  'python',
  'release',
  'update',
  'that',
  'with',
  'still',
  'have',
  'from',
  'when',
  'after',
];
const PER_ACCOUNT = 100;
const ACCOUNTS_AT_ONCE = 8;

export interface SoakMonitor {
  id: string;
  /** The key of its account. */
  key: string;
  keyword: string;
  /** Lower case. */
  subreddit: string;
  /** The number of its endpoint. */
  endpoint: number;
  /** Its rule and state are changed under way, so that what it must find is not known. */
  isEdited: boolean;
}

export interface MonitorOptions {
  count: number;
  endpoints: number;
  urlOf: (endpoint: number) => string;
}

/** Creates monitors over the API, 100 for each account; the last one of each account is the one to be edited. */
export async function createMonitors(installation: Installation, options: MonitorOptions): Promise<SoakMonitor[]> {
  const subreddits = communityNames();
  const monitors: SoakMonitor[] = [];
  const accounts = Array.from({ length: Math.ceil(options.count / PER_ACCOUNT) }, (_, account) => account);
  const keys = accounts.map((account) => {
    const email = `soak-${account}@example.com`;
    const args = ['account', 'create', '--email', email, '--credits', '1000000', '--pack', '79'];
    return String(installation.admin(...args).api_key);
  });
  const createOf = async (account: number): Promise<void> => {
    const first = account * PER_ACCOUNT;
    for (let number = first; number < Math.min(first + PER_ACCOUNT, options.count); number++) {
      const wanted = {
        key: keys[account]!,
        keyword: WORDS[number % WORDS.length]!,
        subreddit: subreddits[(number * 7) % subreddits.length]!,
        endpoint: number % options.endpoints,
        isEdited: number === first + PER_ACCOUNT - 1,
      };
      monitors.push({ ...wanted, id: await create(installation, wanted, options.urlOf(wanted.endpoint)) });
    }
  };
  const workers = Array.from({ length: ACCOUNTS_AT_ONCE }, async () => {
    for (let account = accounts.shift(); account !== undefined; account = accounts.shift()) await createOf(account);
  });
  await Promise.all(workers);
  return monitors;
}

async function create(installation: Installation, wanted: Omit<SoakMonitor, 'id'>, url: string): Promise<string> {
  const { key, keyword, subreddit } = wanted;
  const rule = { name: `${keyword} in ${subreddit}`, keywords: [keyword], subreddits: [subreddit], nsfw: true };
  const answer = await installation.call(key, 'POST', '/v1/monitors', { ...rule, webhook_url: url });
  if (answer.status !== 201) throw new Error(`a monitor was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return (answer.body as { monitor: { id: string } }).monitor.id;
}

function communityNames(): string[] {
  const generated = new CommunityDirectory(1, COMMUNITIES).listed().filter(({ name }) => /_[0-9a-z]+$/.test(name));
  return generated.slice(...RANKS).map(({ name }) => name.toLowerCase());
}
