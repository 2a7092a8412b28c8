/** Notices that an account can switch off. */
export const NOTICE_KINDS = ['low_balance', 'monitor_paused', 'webhook_failing', 'webhook_recovered'] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];
