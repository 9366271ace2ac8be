import { type DataObject, getKey, isObject } from '../values/data.ts';
import { errorMessage, McpError, type McpMessage, type McpRequestMessage, mcpErrors } from './message.ts';
import { capabilities, checkHeaders, infoOf, instructionsOf, listTools, toolCall, unknownMethod } from './methods.ts';
import { headerText, mismatch } from './mirrored-parameters.ts';
import { unsupportedVersion } from './respond-with-handshake.ts';
import type { McpReply, McpRequest, McpServer } from './server.ts';
import { mcpVersions, metaKeys, statelessVersions } from './versions.ts';

/** Time for which a client may cache a response, in milliseconds. */
const TTL_MS = 60_000;

/**
 * Responds to a message in protocol revisions without sessions, where each request is independent. @throws McpError to
 * be sent with status 400.
 */
export async function respondStateless<C>(
  server: McpServer<C>,
  request: McpRequest,
  message: McpMessage,
  version: string,
  context: C,
): Promise<McpReply> {
  if (!statelessVersions.includes(version)) throw unsupportedVersion(version);
  if (message.kind !== 'request') return { status: 202, message: null };
  checkEnvelope(request, message, version);
  try {
    const result = await serve(server, request, message, context);
    const complete = { ...result, resultType: 'complete', _meta: { [metaKeys.server]: infoOf(server) } };
    return { status: 200, message: { jsonrpc: '2.0', id: message.id, result: complete } };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    const status = statuses[error.code] ?? 200;
    return { status, message: errorMessage(message.id, error) };
  }
}

const statuses: Readonly<Record<number, number>> = {
  [mcpErrors.methodNotFound]: 404,
  [mcpErrors.headerMismatch]: 400,
};

/** Checks that headers match the message, as proxies rely on them. */
function checkEnvelope(request: McpRequest, { method, params }: McpRequestMessage, version: string): void {
  const demand = (name: string, value: string) => {
    if (headerText(request.header(name), name) !== value) throw mismatch(name, 'differs from the message');
  };
  demand('MCP-Protocol-Version', version);
  demand('Mcp-Method', method);
  const name = params && getKey(params, 'name');
  if (method === 'tools/call' && typeof name === 'string') demand('Mcp-Name', name);
  const meta = params && getKey(params, '_meta');
  if (!isObject(meta) || !isObject(getKey(meta, metaKeys.capabilities))) {
    throw new McpError(mcpErrors.invalidParams, `_meta["${metaKeys.capabilities}"] is missing`);
  }
}

async function serve<C>(
  server: McpServer<C>,
  request: McpRequest,
  message: McpRequestMessage,
  context: C,
): Promise<DataObject> {
  const cacheable = { ttlMs: TTL_MS, cacheScope: server.cacheScope };
  switch (message.method) {
    case 'server/discover':
      return {
        supportedVersions: [...mcpVersions],
        capabilities: { ...capabilities },
        ...instructionsOf(server),
        ...cacheable,
      };
    case 'tools/list':
      return { ...(await listTools(server, message, context)), ...cacheable };
    case 'tools/call': {
      const call = await toolCall(server, message, context);
      checkHeaders(call, request);
      return call.tool.call(call.args, context, { session: null, request: message.id });
    }
    default:
      throw unknownMethod(message.method);
  }
}
