/** An error that the administrator can act on: its message is printed without a stack. */
export class AdminError extends Error {
  override name = 'AdminError';
}
