import { PublishFailed } from './publish-errors.ts';

/**
 * Answers of a broker to what is wrong with a request, its sender or its settings: the same request gets them again.
 */
const OUR_TYPES = new Set([
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
 * Errors of kafkajs itself that tell of a broker which does not answer, or not yet. Its others are misuse, or what it
 * cannot do.
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
 * True when the brokers are away, loading, full or electing, so that the same call may succeed later. The protocol's
 * error decides where there is one, through the wrappers that kafkajs puts around it; unknown ones count as away.
 */
export function isKafkaAway(error: unknown): boolean {
  if (error instanceof PublishFailed) return true;
  if (!isKafkajsError(error)) return false;
  const type = protocolErrorOf(error);
  if (type !== undefined) return !OUR_TYPES.has(type);
  // Tries that were given up are as bad as what they failed of; what is not kafkajs's own is the network's.
  if (error.name === 'KafkaJSNumberOfRetriesExceeded' && isKafkajsError(error.cause)) return isKafkaAway(error.cause);
  return AWAY_NAMES.has(error.name);
}

/** Other clients' errors have types and causes too. */
function isKafkajsError(error: unknown): error is Error {
  return error instanceof Error && error.name.startsWith('KafkaJS');
}

function protocolErrorOf(error: Error): string | undefined {
  for (let e: unknown = error; isKafkajsError(e); e = e.cause) {
    if ('type' in e && typeof e.type === 'string') return e.type;
  }
  return undefined;
}
