import { monitorExamples } from '../examples/monitor-examples.ts';
import { muteExamples as examples } from '../examples/mute-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const ID = { description: 'Id of a monitor.', example: monitorExamples.id };
const MUTE_ID = { description: 'Id of a mute.', example: examples.id };

/** The routes below /v1/monitors/{id}/mutes. */
export const muteDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/monitors/:id/mutes',
    operationId: 'listMutes',
    tag: 'Monitors',
    id: ID,
    summary: 'List the mutes of a monitor',
    description: 'The communities, accounts and threads whose posts and comments the monitor does not record.',
    answers: [
      {
        status: 200,
        description: 'All mutes.',
        content: [{ schema: 'MuteList', examples: { mutes: examples.list } }],
      },
    ],
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/v1/monitors/:id/mutes',
    operationId: 'addMute',
    tag: 'Monitors',
    id: ID,
    summary: 'Mute a community, an account or a thread',
    description:
      'Once this is answered, the monitor records nothing of it: no match, no delivery, nothing counted. Matches that were recorded before stay. In contrast to a change of the rule it takes effect also for what is already under way. At most 500 a monitor. Repeating the request is harmless. Free.',
    body: { schema: 'CreateMute', examples: { author: examples.author, thread: examples.thread } },
    answers: [
      {
        status: 201,
        description: 'It is muted.',
        content: [{ schema: 'MuteAnswer', examples: { mute: examples.mute } }],
      },
      {
        status: 200,
        description: 'It was muted already; the answer is the mute that exists.',
        content: [{ schema: 'MuteAnswer', examples: { mute: examples.mute } }],
      },
    ],
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'not_found'],
  },
  {
    method: 'delete',
    path: '/v1/monitors/:id/mutes/:mute_id',
    operationId: 'deleteMute',
    tag: 'Monitors',
    id: ID,
    muteId: MUTE_ID,
    summary: 'Delete a mute',
    description:
      'What is recorded after this is no longer muted. What was muted before is not made up for. A request that is repeated because its answer got lost is answered 404: the mute is deleted then.',
    answers: [
      {
        status: 200,
        description: 'The mute is deleted.',
        content: [{ schema: 'MuteDeleted', examples: { deleted: { status: 'deleted' } } }],
      },
    ],
    errors: ['not_found'],
  },
];
