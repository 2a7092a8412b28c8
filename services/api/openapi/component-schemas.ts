import { z } from 'zod';
import { backfill, backfillAnswer, backfillList, startBackfillBody } from '../../../schemas/api/monitors/backfill.ts';
import {
  account,
  accountGrant,
  apiKey,
  createKeyBody,
  deleteAccountBody,
  ledgerEntry,
  ledgerPage,
  usage,
  usageItem,
} from '../../../schemas/api/account.ts';
import { coverage, coverageGap, coverageHour, coverageTotal } from '../../../schemas/api/coverage.ts';
import { deliveryLogEntry, deliveryLogPage, redeliverBody, redelivery } from '../../../schemas/api/delivery-log.ts';
import { eventLogEntry, eventLogPage } from '../../../schemas/api/event-log.ts';
import { explainBody, explainedTerm, itemExplanation, ruleExplanation } from '../../../schemas/api/monitors/explain.ts';
import { feedAddresses, feedRevoked, jsonFeed } from '../../../schemas/api/matches/feed.ts';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import * as posts from '../../../schemas/messages/forum-post.ts';
import * as forum from '../../../schemas/api/forum-resources.ts';
import { parsedQuery, parseQueryBody, ruleSettings } from '../../../schemas/api/monitors/monitor-query.ts';
import { matchPage, monitorMatch } from '../../../schemas/messages/monitor-match.ts';
import {
  createMuteBody,
  monitorMute,
  muteAnswer,
  muteDeleted,
  muteList,
} from '../../../schemas/api/monitors/monitor-mutes.ts';
import { monitorTerm } from '../../../schemas/api/monitors/monitor-refinements.ts';
import {
  createdMonitor,
  createMonitorBody,
  monitor,
  monitorAnswer,
  monitorDelivery,
  monitorList,
  monitorPaused,
  monitorStats,
  patchMonitorBody,
  ruleWarning,
  updatedMonitor,
} from '../../../schemas/api/monitor.ts';
import {
  diffAnswer,
  diffBody,
  previewAnswer,
  previewBody,
  previewSample,
  suggestion,
} from '../../../schemas/api/monitors/preview.ts';
import {
  accountCreated,
  codeSent,
  keyRecovered,
  recoverBody,
  recoverVerifyBody,
  recoverySent,
  signupBody,
  verifyBody,
} from '../../../schemas/api/signup.ts';
import { sqlAnswer, sqlBody } from '../../../schemas/api/sql.ts';
import { serviceStatus } from '../../../schemas/api/status.ts';
import { testDelivery } from '../../../schemas/api/test-delivery.ts';
import { digestEvent, spikeEvent } from '../../../schemas/messages/monitor-event.ts';
import { latency, latencyDay, spike, timeseries, timeseriesItem } from '../../../schemas/api/trends.ts';
import { webhookEvent } from '../../../schemas/messages/webhook-event.ts';
import { fieldNotes } from './field-notes.ts';
import { jsonSchemasOf } from './json-schemas.ts';
import type { JsonSchema } from './openapi-shape.ts';

/** Schemas of answers. Every schema with an id must be here under that id. */
const ANSWERS = {
  Error: errorEnvelope,
  Comment: posts.comment,
  Post: posts.post,
  DiscussionGraph: posts.discussionGraph,
  PostMeta: posts.postMeta,
  PostResponse: posts.postResponse,
  GraphResponse: posts.graphResponse,
  CommentItem: forum.commentItem,
  SubredditRule: forum.subredditRule,
  Subreddit: forum.subreddit,
  User: forum.forumUser,
  Listing: forum.postListing,
  CommentListing: forum.commentListing,
  SubredditListing: forum.subredditListing,
  UserListing: forum.userListing,
  ThingItem: forum.thingItem,
  ThingsResponse: forum.thingsResponse,
  Monitor: monitor,
  MonitorTerm: monitorTerm,
  MonitorStats: monitorStats,
  MonitorDelivery: monitorDelivery,
  MonitorMatch: monitorMatch,
  MatchPage: matchPage,
  RuleWarning: ruleWarning,
  CreatedMonitor: createdMonitor,
  RuleSettings: ruleSettings,
  ParsedQuery: parsedQuery,
  MonitorList: monitorList,
  MonitorAnswer: monitorAnswer,
  UpdatedMonitor: updatedMonitor,
  MonitorWithStats: z.strictObject({ monitor, stats: monitorStats, delivery: monitorDelivery }),
  MonitorDeleted: z.strictObject({ status: z.literal('deleted') }),
  MonitorPaused: monitorPaused,
  Preview: previewAnswer,
  PreviewSample: previewSample,
  Suggestion: suggestion,
  MonitorDiff: diffAnswer,
  ExplainedTerm: explainedTerm,
  RuleExplanation: ruleExplanation,
  ItemExplanation: itemExplanation,
  Timeseries: timeseries,
  TimeseriesItem: timeseriesItem,
  Spike: spike,
  Latency: latency,
  LatencyDay: latencyDay,
  Backfill: backfill,
  BackfillAnswer: backfillAnswer,
  BackfillList: backfillList,
  SqlAnswer: sqlAnswer,
  MonitorMute: monitorMute,
  MuteList: muteList,
  MuteAnswer: muteAnswer,
  MuteDeleted: muteDeleted,
  FeedAddresses: feedAddresses,
  FeedRevoked: feedRevoked,
  JsonFeed: jsonFeed,
  DeliveryLogEntry: deliveryLogEntry,
  DeliveryLogPage: deliveryLogPage,
  EventLogEntry: eventLogEntry,
  EventLogPage: eventLogPage,
  Redelivery: redelivery,
  RotatedSecret: z.strictObject({ webhook_secret: z.string() }),
  TestDelivery: testDelivery,
  Account: account,
  AccountDeleted: z.strictObject({ status: z.literal('deleted') }),
  LedgerEntry: ledgerEntry,
  LedgerPage: ledgerPage,
  Usage: usage,
  UsageItem: usageItem,
  ApiKey: apiKey,
  ApiKeyList: z.strictObject({ items: z.array(apiKey) }),
  CreatedApiKey: z.strictObject({ key: apiKey, api_key: z.string() }),
  ApiKeyRevoked: z.strictObject({ status: z.literal('revoked') }),
  AccountGrant: accountGrant,
  AccountGrantList: z.strictObject({ items: z.array(accountGrant) }),
  AccountGrantRevoked: z.strictObject({ status: z.literal('revoked') }),
  Coverage: coverage,
  CoverageHour: coverageHour,
  CoverageTotal: coverageTotal,
  CoverageGap: coverageGap,
  CodeSent: codeSent,
  AccountCreated: accountCreated,
  RecoverySent: recoverySent,
  KeyRecovered: keyRecovered,
  ServiceStatus: serviceStatus,
  Health: z.strictObject({ status: z.literal('ok') }),
  Readiness: z.strictObject({ ready: z.boolean(), parts: z.record(z.string(), z.boolean()) }),
};

/** Bodies that this service sends. */
const WEBHOOKS = { WebhookEvent: webhookEvent, SpikeEvent: spikeEvent, DigestEvent: digestEvent };

/** Schemas of requests. They are described from the client's side, so fields with a default are optional. */
const BODIES = {
  CreateMonitor: createMonitorBody,
  PatchMonitor: patchMonitorBody,
  ParseQuery: parseQueryBody,
  /** The same as in answers. */
  MonitorTerm: monitorTerm,
  PreviewRequest: previewBody,
  DiffRequest: diffBody,
  ExplainRule: explainBody,
  StartBackfill: startBackfillBody,
  SqlQuery: sqlBody,
  CreateMute: createMuteBody,
  Redeliver: redeliverBody,
  CreateApiKey: createKeyBody,
  SignupRequest: signupBody,
  VerifyRequest: verifyBody,
  RecoverRequest: recoverBody,
  RecoverVerifyRequest: recoverVerifyBody,
  DeleteAccount: deleteAccountBody,
};

export type ComponentName = keyof typeof ANSWERS | keyof typeof WEBHOOKS | keyof typeof BODIES;

/** All named schemas as JSON Schema, with the notes on their fields. */
export function componentSchemas(): Record<string, JsonSchema> {
  const bodies = jsonSchemasOf(BODIES, 'input');
  const schemas = { ...jsonSchemasOf({ ...ANSWERS, ...WEBHOOKS }, 'output'), ...bodies };
  for (const [name, fields] of Object.entries(fieldNotes)) annotate(name, schemas[name], fields);
  for (const body of Object.values(bodies)) describeDefaults(body);
  return schemas;
}

/**
 * Says in words what an absent field means. Generators treat a field that has a `default` as always present, so clients
 * would have to send it.
 */
function describeDefaults(body: JsonSchema): void {
  for (const field of Object.values((body.properties ?? {}) as Record<string, JsonSchema>)) {
    if (field.default === undefined) continue;
    const description = typeof field.description === 'string' ? `${field.description} ` : '';
    field.description = `${description}Default: \`${JSON.stringify(field.default)}\`.`;
    delete field.default;
  }
}

export function refTo(name: ComponentName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** @throws Error when a note is about a field that does not exist */
function annotate(name: string, schema: JsonSchema | undefined, fields: Record<string, string | JsonSchema>): void {
  const properties = schema?.properties as Record<string, JsonSchema> | undefined;
  for (const [field, note] of Object.entries(fields)) {
    const property = properties?.[field];
    if (property === undefined) throw new Error(`a note describes ${name}.${field}, which does not exist`);
    const added = typeof note === 'string' ? { description: note } : note;
    const { items } = property;
    Object.assign(
      property,
      added,
      'items' in added ? { items: { ...(items as object), ...(added.items as object) } } : {},
    );
  }
}
