import { ApiError } from '../../http/api-error.ts';

/** Scans of the archive at once in this process; each keeps a session of the engine busy. */
const SLOTS = 2;
const RETRY_AFTER_S = 5;

/** Limits how many requests read the archive at once. */
export class PreviewSlots {
  #taken = 0;

  /**
   * Takes a slot; returns the function that gives it back, which may be called twice.
   *
   * @throws ApiError service_unavailable when all are taken
   */
  take(): () => void {
    if (this.#taken >= SLOTS) {
      const message = `Other previews are being computed, at most ${SLOTS} at a time. Nothing was counted or charged.`;
      throw new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });
    }
    this.#taken += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#taken -= 1;
      isHeld = false;
    };
  }
}
