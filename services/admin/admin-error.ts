/** Something the administrator can act on: printed as one sentence, without a stack. */
export class AdminError extends Error {
  override name = 'AdminError';
}
