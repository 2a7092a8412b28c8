/**
 * The broker did not acknowledge in time or is away. Some of the records may be stored all the same; calling again is
 * right.
 */
export class PublishFailed extends Error {
  override name = 'PublishFailed';
}

/** The broker will never take these records (too large, not allowed): calling again cannot help. */
export class PublishRefused extends Error {
  override name = 'PublishRefused';
}
