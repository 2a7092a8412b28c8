/**
 * The broker did not acknowledge in time or is away. Some of the records may be stored nevertheless. Retry the call.
 */
export class PublishFailed extends Error {
  override name = 'PublishFailed';
}

/** The broker will never accept these records (too large, not allowed). Do not retry the call. */
export class PublishRefused extends Error {
  override name = 'PublishRefused';
}
