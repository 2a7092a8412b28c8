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

const CONSTANT_FIELDS: Readonly<Record<string, unknown>> = {
  advertiser_category: '',
  all_original_content: false,
  allow_discovery: true,
  allow_galleries: true,
  allow_images: true,
  allow_polls: true,
  allow_videogifs: true,
  allow_videos: true,
  banner_background_color: '#336699',
  banner_background_image: '',
  banner_img: '',
  banner_size: null,
  can_assign_link_flair: false,
  can_assign_user_flair: false,
  collapse_deleted_comments: false,
  comment_score_hide_mins: 15,
  community_icon: '',
  disable_contributor_requests: false,
  emojis_custom_size: null,
  emojis_enabled: false,
  free_form_reports: true,
  has_menu_widget: false,
  header_img: null,
  header_size: null,
  header_title: '',
  hide_ads: false,
  icon_img: '',
  icon_size: null,
  is_crosspostable_subreddit: true,
  is_enrolled_in_new_modmail: null,
  key_color: '',
  link_flair_enabled: true,
  link_flair_position: 'left',
  mobile_banner_image: '',
  notification_level: null,
  original_content_tag_enabled: false,
  primary_color: '#0079d3',
  public_traffic: false,
  restrict_commenting: false,
  show_media: true,
  show_media_preview: true,
  spoilers_enabled: true,
  submission_type: 'any',
  submit_link_label: null,
  submit_text: '',
  submit_text_html: null,
  submit_text_label: null,
  suggested_comment_sort: null,
  user_flair_enabled_in_sr: false,
  user_has_favorited: false,
  user_is_banned: false,
  user_is_contributor: false,
  user_is_moderator: false,
  user_is_muted: false,
  user_is_subscriber: false,
  whitelist_status: 'all_ads',
  wiki_enabled: null,
  wls: 6,
};

/** `alone` is the community's own page. Only that page has the number of active readers; listings do not. */
export function renderCommunity(community: Community, alone = false): Thing {
  const { name, title, description, id, language, over18, type, subscribers, created } = community;
  const active = alone ? 3 + Math.floor(subscribers / 900) : null;
  return {
    kind: 't5',
    data: {
      ...CONSTANT_FIELDS,
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
