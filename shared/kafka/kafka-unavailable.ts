/**
 * The broker did not acknowledge in time or is unavailable; some records may be stored nevertheless. Retry the call.
 */
export class PublishFailed extends Error {
  override name = 'PublishFailed';
}

/** The broker will never accept these records (too large, not allowed). Do not retry the call. */
export class PublishRefused extends Error {
  override name = 'PublishRefused';
}

/** Broker errors about the request, its sender or the settings. Repeating the same request gives the same error. */
const REQUEST_ERROR =
  /AUTHORIZATION|DELEGATION_TOKEN|SASL|SECURITY|POLICY|UNSUPPORTED|TOO_LARGE|DISABLED|ALREADY_EXISTS|SUBSCRIBED|INCONSISTENT|^INVALID_(?!FETCH_SESSION|PRODUCER|REPLICATION|TXN)/;

/** A broker does not answer, or not yet. The other errors of kafkajs mean misuse or a missing feature. */
const UNAVAILABLE_NAMES = new Set([
  'KafkaJSBrokerNotFound',
  'KafkaJSConnectionClosedError',
  'KafkaJSConnectionError',
  'KafkaJSDeleteGroupsError',
  'KafkaJSError',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSLockTimeout',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSNumberOfRetriesExceeded',
  'KafkaJSPartialMessageError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSStaleTopicMetadataAssignment',
  'KafkaJSTimeout',
  'KafkaJSTopicMetadataNotLoaded',
]);

/**
 * kafkajs turns whatever ends an authentication into the same error. These are the texts of a lost connection, which no
 * answer of a broker has.
 */
const LOST_WHILE_AUTHENTICATING =
  /failed: (?:Closed connection|Connection (?:error|timeout|closed)|Not connected|Request .* timed out$)/;

const WRAPPERS = new Set(['KafkaJSNonRetriableError', 'KafkaJSNumberOfRetriesExceeded']);

/**
 * The brokers are unavailable, loading, full or electing a leader. If the error wraps a protocol error, that one
 * decides; unknown ones count as unavailable.
 */
export function isKafkaUnavailable(error: unknown): boolean {
  if (error instanceof PublishFailed) return true;
  if (!isKafkajsError(error)) return false;
  const type = protocolErrorOf(error);
  if (type !== undefined) return !REQUEST_ERROR.test(type);
  // Exhausted retries count like their cause. A cause that is not from kafkajs is a network error. What is not worth a
  // retry at once is wrapped as well, for instance that no broker is left to ask for the group's coordinator.
  if (WRAPPERS.has(error.name) && isKafkajsError(error.cause)) return isKafkaUnavailable(error.cause);
  if (error.name === 'KafkaJSSASLAuthenticationError') return LOST_WHILE_AUTHENTICATING.test(error.message);
  return UNAVAILABLE_NAMES.has(error.name);
}

/** Errors of other clients also have types and causes, so only those of kafkajs are inspected. */
function isKafkajsError(error: unknown): error is Error {
  return error instanceof Error && error.name.startsWith('KafkaJS');
}

function protocolErrorOf(error: Error): string | undefined {
  for (let e: unknown = error; isKafkajsError(e); e = e.cause) {
    if ('type' in e && typeof e.type === 'string') return e.type;
  }
  return undefined;
}
