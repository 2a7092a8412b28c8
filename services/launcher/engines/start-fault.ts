/** A start that cannot go on, with a message made for the person at the terminal: no stack trace belongs beside it. */
export class StartFault extends Error {
  override name = 'StartFault';
}
