import { type DataObject, getKey } from '../values/data.ts';
import {
  errorMessage,
  McpError,
  type McpMessage,
  type McpRequestMessage,
  mcpErrors,
  type RequestId,
} from './message.ts';
import { introduce, listTools, paramsOf, toolCall, unknownMethod } from './methods.ts';
import { mismatch } from './mirrored-parameters.ts';
import type { McpReply, McpRequest, McpServer } from './server.ts';
import { handshakeVersions, mcpVersions, metaKeys, statelessVersions } from './versions.ts';

/** Acknowledges a message without content. */
const accepted: McpReply = { status: 202, message: null };

/**
 * Responds to a message in protocol revisions that begin with `initialize`; with sessions, all later messages belong to
 * one. @throws McpError to be sent with status 400.
 */
export async function respondWithHandshake<C>(
  server: McpServer<C>,
  request: McpRequest,
  message: McpMessage,
  context: C,
): Promise<McpReply> {
  const { sessions } = server;
  if (message.kind === 'request' && message.method === 'initialize') return initialize(server, message);
  checkVersion(server, request.header('mcp-protocol-version'));
  let session: string | null = null;
  if (sessions) {
    const refusal = await refuseSession(server, request);
    if (refusal) return refusal;
    session = request.header('mcp-session-id')!;
  }
  if (message.kind === 'request') {
    return settle(message.id, () => serve(server, message, context, session));
  }
  if (sessions && session !== null) {
    if (message.kind === 'response') await sessions.responded(session, message.id);
    else if (message.method === 'notifications/cancelled' && message.params) {
      const id = getKey(message.params, 'requestId');
      if (id !== undefined) sessions.cancelled(session, id as RequestId);
    }
  }
  return accepted;
}

async function initialize<C>(server: McpServer<C>, message: McpRequestMessage): Promise<McpReply> {
  let session: string | undefined;
  const reply = await settle(message.id, async () => {
    const result = introduce(server, message);
    session = await server.sessions?.open(result.protocolVersion);
    return result;
  });
  return session === undefined ? reply : { ...reply, session };
}

/** Returns the error response for a request without a valid session; null for one with a session. */
export async function refuseSession<C>(
  { sessions }: McpServer<C>,
  request: Pick<McpRequest, 'header'>,
): Promise<McpReply | null> {
  const session = request.header('mcp-session-id');
  if (session === undefined) {
    const error = new McpError(mcpErrors.refused, 'header Mcp-Session-Id is missing: start with initialize');
    return { status: 400, message: errorMessage(undefined, error) };
  }
  if ((await sessions?.version(session)) != null) return null;
  const error = new McpError(mcpErrors.sessionNotFound, 'unknown session: start again with initialize');
  return { status: 404, message: errorMessage(undefined, error) };
}

/** Checks the protocol version. @throws McpError for a version without a handshake. */
function checkVersion({ olderVersions }: McpServer<never>, version: string | undefined): void {
  if (version === undefined || handshakeVersions.includes(version) || olderVersions?.includes(version)) return;
  if (statelessVersions.includes(version)) throw mismatch('MCP-Protocol-Version', `needs _meta["${metaKeys.version}"]`);
  throw unsupportedVersion(version);
}

export function unsupportedVersion(requested: string): McpError {
  const data = { supported: [...mcpVersions], requested: requested.slice(0, 100) };
  return new McpError(mcpErrors.unsupportedVersion, 'the protocol version is not supported', data);
}

async function serve<C>(
  server: McpServer<C>,
  message: McpRequestMessage,
  context: C,
  session: string | null,
): Promise<DataObject> {
  switch (message.method) {
    case 'ping':
      paramsOf(message);
      return {};
    case 'tools/list':
      return listTools(server, message, context);
    case 'tools/call': {
      const { tool, args } = await toolCall(server, message, context);
      return tool.call(args, context, { session, request: message.id });
    }
    default:
      throw unknownMethod(message.method);
  }
}

async function settle(id: RequestId, serveIt: () => Promise<DataObject>): Promise<McpReply> {
  try {
    return { status: 200, message: { jsonrpc: '2.0', id, result: await serveIt() } };
  } catch (error) {
    if (error instanceof McpError) return { status: 200, message: errorMessage(id, error) };
    throw error;
  }
}
