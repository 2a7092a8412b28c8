/** A start failed for a reason that the user can fix. Print its message without a stack trace. */
export class StartFault extends Error {
  override name = 'StartFault';
}
