import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';

/**
 * Answers one request of any revision of the protocol.
 *
 * @param message the body when it is valid JSON
 */
export type ToolHandler = (request: Request, message: unknown) => Promise<Response>;

/**
 * The current revision has no sessions: each request is self-contained. Earlier revisions start with a handshake, which
 * is answered without a session too. Every request gets a fresh server and one JSON answer.
 *
 * @param createServer creates the server for this request's caller
 */
export function createToolHandler(createServer: () => McpServer): ToolHandler {
  return async (request, message) => {
    const given = message === undefined ? {} : { parsedBody: message };
    if (!(await isLegacyRequest(request, message))) {
      return createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, given);
    }
    // Without a session id generator there are no sessions. The package's default handler would answer these revisions
    // with event streams.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createServer();
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, given);
    } finally {
      await server.close();
    }
  };
}
