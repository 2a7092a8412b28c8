import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';

/** Answers one request of the protocol, of whichever revision. @param message its body, where that is JSON */
export type ToolHandler = (request: Request, message: unknown) => Promise<Response>;

/**
 * The current revision has no sessions: each request says all about itself. The ones before begin with a handshake,
 * which is answered without a session too. Both get a server of their own for each request, and one JSON answer.
 *
 * @param createServer for this request's caller
 */
export function createToolHandler(createServer: () => McpServer): ToolHandler {
  return async (request, message) => {
    const given = message === undefined ? {} : { parsedBody: message };
    if (!(await isLegacyRequest(request, message))) {
      return createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, given);
    }
    // Without a generator there are no sessions; the package's own way of serving these revisions would answer with
    // event streams.
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
