import type { Community } from './community-directory.ts';
import type { Thing } from './render-post.ts';
import { accountId, numberOf, accountStatusOf } from './authors.ts';

const RULES: readonly (readonly [kind: string, name: string, description: string])[] = [
  ['all', 'Be kind', 'Speak to others as you would at a shared table.'],
  ['link', 'Say where pictures come from', 'Name the source & the author.'],
  ['comment', 'Stay near the subject', ''],
];

export function renderRules(community: Community): object {
  const rules = RULES.map(([kind, short_name, description], priority) => ({
    ...{ kind, short_name, description, violation_reason: short_name, priority },
    created_utc: community.created + 60,
  }));
  return { rules };
}

export function renderCommunity(community: Community): Thing {
  const { name, title, description, id, over18, type, subscribers, created } = community;
  return {
    kind: 't5',
    data: {
      id,
      name: `t5_${id}`,
      display_name: name,
      title,
      public_description: description,
      description: `# ${title}\n\n${description}`,
      url: `/r/${name}/`,
      icon_img: '',
      community_icon: '',
      subscribers,
      created_utc: created,
      over18,
      subreddit_type: type === 'quarantined' || type === 'banned' ? 'public' : type,
    },
  };
}

const FIRST_ACCOUNTS = 1_300_000_000;
const NINE_YEARS = 284_000_000;

/** Of a suspended account only that. Undefined for a shadow-banned one: not found. */
export function renderUser(seed: number, name: string): Thing | undefined {
  const status = accountStatusOf(seed, name);
  if (status === 'shadow-banned') return undefined;
  if (status === 'suspended') return { kind: 't2', data: { name, is_suspended: true } };
  const number = numberOf(seed, name);
  const link_karma = number % 9000;
  const comment_karma = (number >>> 8) % 70_000;
  return {
    kind: 't2',
    data: {
      id: accountId(seed, name),
      name,
      created_utc: FIRST_ACCOUNTS + (number % NINE_YEARS),
      link_karma,
      comment_karma,
      total_karma: link_karma + comment_karma,
      icon_img: `https://i.forum.example/avatars/${number % 20}.png?width=256&crop=smart`,
      snoovatar_img: '',
      has_verified_email: number % 5 !== 0,
      is_employee: false,
      is_mod: number % 11 === 0,
    },
  };
}
