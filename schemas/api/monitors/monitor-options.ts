import { z } from 'zod';

/** What a monitor does beside matching. Most monitors use none of it. */

const digestPeriod = z.enum(['hourly', 'daily']);
export type DigestPeriod = z.infer<typeof digestPeriod>;

const MEANING = {
  spike_webhook:
    'true: an hour with far more matches than usual is sent to the webhook as one `monitor.spike` event. It needs a `webhook_url`, and removing that switches it off. false when absent.',
  digest:
    'Sends matches together instead of one by one, each full hour or each midnight (UTC): as one `monitor.digest` event to the webhook, or by mail to the address of the account when the monitor has none; an account without an address that mail can be sent to needs a `webhook_url`. At most 100 matches each; nothing is sent without matches.',
};

/** Members of a monitor in answers: absent when they are not used. */
export const optionFields = {
  spike_webhook: z.boolean().optional().describe(MEANING.spike_webhook),
  digest: digestPeriod.optional().describe(MEANING.digest),
};

/** Members of bodies. null and false switch an option off; at creation they mean the same as absence. */
export const optionChanges = {
  spike_webhook: z.boolean().nullable().optional().describe(MEANING.spike_webhook),
  digest: digestPeriod.nullable().optional().describe(MEANING.digest),
};
