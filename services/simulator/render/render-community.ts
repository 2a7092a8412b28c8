import type { Community } from '../content/communities.ts';
import { selfTextHtml } from './rendered-text.ts';
import type { Thing } from './render-post.ts';

export const RULES: readonly (readonly [kind: string, name: string, description: string])[] = [
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
