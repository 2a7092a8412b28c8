import { ApiError } from '../../http/api-error.ts';

/** Scans of the archive at once in this process; each keeps a session of the engine busy. */
const SLOTS = 2;
const RETRY_AFTER_S = 5;

/** Limits how many requests read the archive at once: one for an account, so that no account takes all slots. */
export class PreviewSlots {
  readonly #accounts = new Set<string>();

  /**
   * Takes a slot; returns the function that gives it back, which may be called twice.
   *
   * @throws ApiError rate_limited when the account holds one, service_unavailable when all are taken
   */
  take(accountId: string): () => void {
    if (this.#accounts.has(accountId)) {
      const message = 'Another preview of this account is being computed; only one can be.';
      throw new ApiError('rate_limited', message, { retryAfter: RETRY_AFTER_S });
    }
    if (this.#accounts.size >= SLOTS) {
      const message = `Other previews are being computed, at most ${SLOTS} at a time. Nothing was counted or charged.`;
      throw new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });
    }
    this.#accounts.add(accountId);
    let isHeld = true;
    return () => {
      if (isHeld) this.#accounts.delete(accountId);
      isHeld = false;
    };
  }
}
