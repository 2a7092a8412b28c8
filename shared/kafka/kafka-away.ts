import { PublishFailed } from './publish-errors.ts';

/**
 * Broker errors about the request, its sender or the settings. Repeating the same request gives the same error.
 */
const REQUEST_ERRORS = new Set([
  'DELEGATION_TOKEN_AUTHORIZATION_FAILED',
  'DELEGATION_TOKEN_AUTH_DISABLED',
  'DELEGATION_TOKEN_EXPIRED',
  'DELEGATION_TOKEN_NOT_FOUND',
  'DELEGATION_TOKEN_OWNER_MISMATCH',
  'DELEGATION_TOKEN_REQUEST_NOT_ALLOWED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'GROUP_SUBSCRIBED_TO_TOPIC',
  'ILLEGAL_SASL_STATE',
  'INCONSISTENT_GROUP_PROTOCOL',
  'INVALID_COMMIT_OFFSET_SIZE',
  'INVALID_CONFIG',
  'INVALID_FETCH_SIZE',
  'INVALID_GROUP_ID',
  'INVALID_PARTITIONS',
  'INVALID_PRINCIPAL_TYPE',
  'INVALID_RECORD',
  'INVALID_REPLICA_ASSIGNMENT',
  'INVALID_REQUEST',
  'INVALID_REQUIRED_ACKS',
  'INVALID_SESSION_TIMEOUT',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_TRANSACTION_TIMEOUT',
  'MESSAGE_TOO_LARGE',
  'OFFSET_METADATA_TOO_LARGE',
  'POLICY_VIOLATION',
  'RECORD_LIST_TOO_LARGE',
  'SASL_AUTHENTICATION_FAILED',
  'SECURITY_DISABLED',
  'TOPIC_ALREADY_EXISTS',
  'TOPIC_AUTHORIZATION_FAILED',
  'TOPIC_DELETION_DISABLED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'UNSUPPORTED_COMPRESSION_TYPE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'UNSUPPORTED_SASL_MECHANISM',
  'UNSUPPORTED_VERSION',
]);

/**
 * Errors of kafkajs itself that mean that a broker does not answer, or not yet. Its other errors mean misuse or a
 * missing feature.
 */
const AWAY_NAMES = new Set([
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
 * kafkajs turns whatever ends an authentication into the same error, without a cause: also a broker that goes away in
 * the middle of it. These are the texts of its connection, which no answer of a broker has.
 */
const LOST_WHILE_AUTHENTICATING =
  /failed: (?:Closed connection|Connection (?:error|timeout|closed)|Not connected|Request .* timed out$)/;

/** What kafkajs wraps the error of its last attempt in. */
const WRAPPERS = new Set(['KafkaJSNonRetriableError', 'KafkaJSNumberOfRetriesExceeded']);

/**
 * True when the brokers are away, loading, full or electing a leader, so that the same call may succeed later. If the
 * error wraps a protocol error, that one decides; unknown protocol errors count as away.
 */
export function isKafkaAway(error: unknown): boolean {
  if (error instanceof PublishFailed) return true;
  if (!isKafkajsError(error)) return false;
  const type = protocolErrorOf(error);
  if (type !== undefined) return !REQUEST_ERRORS.has(type);
  // Exhausted retries count like their cause. A cause that is not from kafkajs is a network error. What is not worth a
  // retry at once is wrapped as well, for instance that no broker is left to ask for the group's coordinator.
  if (WRAPPERS.has(error.name) && isKafkajsError(error.cause)) return isKafkaAway(error.cause);
  if (error.name === 'KafkaJSSASLAuthenticationError') return LOST_WHILE_AUTHENTICATING.test(error.message);
  return AWAY_NAMES.has(error.name);
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
