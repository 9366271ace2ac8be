import { getKey, isObject } from '../values/data.ts';
import { errorMessage, McpError, type McpMessage, mcpErrors, type RequestId, readMessage } from './message.ts';
import { respondStateless } from './respond-stateless.ts';
import { respondWithHandshake } from './respond-with-handshake.ts';
import type { McpReply, McpRequest, McpServer } from './server.ts';
import { handshakeVersions, metaKeys } from './versions.ts';

/**
 * Responds to one message from a client of the Model Context Protocol. A request that states a protocol version without
 * a handshake is independent of others; any other request belongs to a revision with a handshake. Never throws.
 */
export async function respondToMcp<C>(server: McpServer<C>, request: McpRequest, context: C): Promise<McpReply> {
  let id: RequestId | null = null;
  try {
    const message = readMessage(request.text);
    if (message.kind !== 'notification') id = message.id;
    const version = versionOf(message);
    return version === undefined || handshakeVersions.includes(version)
      ? await respondWithHandshake(server, request, message, context)
      : await respondStateless(server, request, message, version, context);
  } catch (error) {
    if (error instanceof McpError) return { status: 400, message: errorMessage(id, error) };
    server.failed(error, context);
    return { status: 200, message: errorMessage(id, new McpError(mcpErrors.internal, 'internal error')) };
  }
}

/**
 * Returns the error response for a text that is not a valid message; null for a message. For transports that send
 * responses separately.
 */
export function refuseText(text: string): McpReply | null {
  try {
    readMessage(text);
    return null;
  } catch (error) {
    if (error instanceof McpError) return { status: 400, message: errorMessage(null, error) };
    throw error;
  }
}

/** Returns the protocol version stated in the message itself. */
function versionOf(message: McpMessage): string | undefined {
  const meta = message.kind === 'response' ? undefined : message.params && getKey(message.params, '_meta');
  const version = isObject(meta) ? getKey(meta, metaKeys.version) : undefined;
  return typeof version === 'string' ? version : undefined;
}
