import type { Community } from '../content/community-directory.ts';
import { selfTextHtml } from './render-post.ts';
import type { Thing } from './render-post.ts';
import { accountId, numberOf, accountStatusOf } from '../content/authors.ts';

const RULES: readonly (readonly [kind: string, name: string, description: string])[] = [
  ['all', 'Be kind', 'Speak to others as you would at a shared table.'],
  ['link', 'Say where pictures come from', 'Name the source & the author.'],
  ['comment', 'Stay near the subject', ''],
];
const SITE_RULES = ['Spam', 'Personal and confidential information', 'Threatening, harassing, or inciting violence'];

export function renderRules(community: Community): object {
  const rules = RULES.map(([kind, short_name, description], priority) => {
    const rule = {
      kind,
      description,
      short_name,
      violation_reason: short_name,
      created_utc: community.created + 60,
      priority,
    };
    return description === '' ? rule : { ...rule, description_html: selfTextHtml(description) };
  });
  return {
    rules,
    site_rules: SITE_RULES,
    site_rules_flow: SITE_RULES.map((text) => ({ reasonTextToShow: text, reasonText: text })),
  };
}

/** `alone` is the community's own page. Only that page has the number of active readers; listings do not. */
export function renderCommunity(community: Community, alone = false): Thing {
  const { name, title, description, id, language, over18, type, subscribers, created } = community;
  const active = alone ? 3 + Math.floor(subscribers / 900) : null;
  return {
    kind: 't5',
    data: {
      icon_img: '',
      community_icon: '',
      id,
      name: `t5_${id}`,
      display_name: name,
      display_name_prefixed: `r/${name}`,
      title,
      public_description: description,
      public_description_html: selfTextHtml(description),
      description: `# ${title}\n\n${description}`,
      description_html: selfTextHtml(`# ${title}\n\n${description}`),
      url: `/r/${name}/`,
      subscribers,
      accounts_active: active,
      active_user_count: active,
      accounts_active_is_fuzzed: false,
      created,
      created_utc: created,
      lang: language,
      over18,
      quarantine: type === 'quarantined',
      subreddit_type: type === 'quarantined' || type === 'banned' ? 'public' : type,
      restrict_posting: type !== 'public',
    },
  };
}

const FIRST_ACCOUNTS = 1_300_000_000;
const NINE_YEARS = 284_000_000;

/**
 * An account's page; of a suspended account only that it is suspended. Undefined for a shadow-banned one: not found.
 */
export function renderUser(seed: number, name: string): Thing | undefined {
  const status = accountStatusOf(seed, name);
  if (status === 'shadow-banned') return undefined;
  if (status === 'suspended') {
    return { kind: 't2', data: { name, is_suspended: true, is_blocked: false, awardee_karma: 0, awarder_karma: 0 } };
  }
  const number = numberOf(seed, name);
  const created = FIRST_ACCOUNTS + (number % NINE_YEARS);
  const link_karma = number % 9000;
  const comment_karma = (number >>> 8) % 70_000;
  const icon = `https://i.forum.example/avatars/${number % 20}.png?width=256&crop=smart`;
  return {
    kind: 't2',
    data: {
      id: accountId(seed, name),
      name,
      created,
      created_utc: created,
      link_karma,
      comment_karma,
      total_karma: link_karma + comment_karma,
      awardee_karma: 0,
      awarder_karma: 0,
      icon_img: icon,
      snoovatar_img: '',
      snoovatar_size: null,
      has_subscribed: true,
      has_verified_email: number % 5 !== 0,
      verified: true,
      hide_from_robots: number % 7 === 0,
      is_blocked: false,
      is_employee: false,
      is_friend: false,
      is_gold: number % 31 === 0,
      is_mod: number % 11 === 0,
      accept_followers: true,
      pref_show_snoovatar: false,
      // Old accounts have no profile community.
      subreddit: number % 6 === 0 ? null : profile(name, icon),
    },
  };
}

function profile(name: string, icon_img: string): object {
  return {
    display_name: `u_${name}`,
    display_name_prefixed: `u/${name}`,
    name: `t5_${numberOf(7, name).toString(36)}`,
    title: '',
    public_description: 'Here for the pictures & the arguments.',
    description: '',
    url: `/user/${name}/`,
    subscribers: 0,
    over_18: false,
    subreddit_type: 'user',
    icon_img,
    banner_img: '',
    community_icon: null,
    default_set: true,
    is_default_icon: true,
    is_default_banner: true,
    quarantine: false,
    user_is_banned: false,
    restrict_posting: true,
  };
}
