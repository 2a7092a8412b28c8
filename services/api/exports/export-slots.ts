import { ApiError } from '../http/api-error.ts';

/** Exports that this process writes at once. Each holds up to about 30 MB. */
const MOST = 4;
const RETRY_AFTER_S = 15;

/** Which accounts have an export under way in this process: one each, so that no account takes all slots. */
export class ExportSlots {
  private readonly accounts = new Set<string>();

  /**
   * @returns what gives the slot back; calling it again has no effect
   * @throws ApiError rate_limited when the account has an export under way, service_unavailable when too many have
   */
  take(accountId: string): () => void {
    if (this.accounts.has(accountId)) {
      throw new ApiError('rate_limited', 'An export of this account is under way; only one can be.', {
        retryAfter: RETRY_AFTER_S,
      });
    }
    if (this.accounts.size >= MOST) {
      throw new ApiError('service_unavailable', 'As many exports are under way as can be. Try again soon.', {
        retryAfter: RETRY_AFTER_S,
      });
    }
    this.accounts.add(accountId);
    let isTaken = true;
    return () => {
      if (isTaken) this.accounts.delete(accountId);
      isTaken = false;
    };
  }
}
