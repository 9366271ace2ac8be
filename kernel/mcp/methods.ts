import { type DataObject, getKey, isObject } from '../values/data.ts';
import { McpError, type McpRequestMessage, mcpErrors } from './message.ts';
import { checkMirrored } from './mirrored-parameters.ts';
import type { McpRequest, McpServer, McpTool } from './server.ts';
import { handshakeVersions } from './versions.ts';

/** Capabilities of the server: tools, without notifications of changes. */
export const capabilities = { tools: { listChanged: false } } as const;

export function infoOf({ name, title, version }: McpServer<never>): DataObject {
  return { name, title, version };
}

/** Returns the usage instructions for clients; an empty object for none. */
export function instructionsOf({ instructions }: McpServer<never>): DataObject {
  return instructions === '' ? {} : { instructions };
}

/** Returns the parameters of a message. @throws McpError when they are not an object. */
export function paramsOf({ params }: McpRequestMessage): DataObject {
  if (!params) throw new McpError(mcpErrors.invalidParams, 'params must be an object');
  return params;
}

export function unknownMethod(method: string): McpError {
  return new McpError(mcpErrors.methodNotFound, `unknown method ${JSON.stringify(method.slice(0, 100))}`);
}

/** Returns the response to `initialize`, with the negotiated version. */
export function introduce(
  server: McpServer<never>,
  message: McpRequestMessage,
): DataObject & { protocolVersion: string } {
  const requested = getKey(paramsOf(message), 'protocolVersion');
  if (typeof requested !== 'string') throw new McpError(mcpErrors.invalidParams, 'protocolVersion must be a text');
  const isSpoken = handshakeVersions.includes(requested) || server.olderVersions?.includes(requested);
  const protocolVersion = isSpoken ? requested : handshakeVersions.at(-1)!;
  return { protocolVersion, capabilities: { ...capabilities }, serverInfo: infoOf(server), ...instructionsOf(server) };
}

/** Lists the tools, all on one page. @throws McpError for a cursor. */
export async function listTools<C>(server: McpServer<C>, message: McpRequestMessage, context: C): Promise<DataObject> {
  if (getKey(paramsOf(message), 'cursor') !== undefined) {
    throw new McpError(mcpErrors.invalidParams, 'unknown cursor: the list of tools has only one page');
  }
  return { tools: Array.from(await server.tools(context), ({ description }) => description) };
}

/** A call to an existing tool. */
export interface ToolCall<C> {
  readonly tool: McpTool<C>;
  readonly args: DataObject;
}

/** Reads a tool call. @throws McpError for an unknown tool, and for arguments that are not an object. */
export async function toolCall<C>(server: McpServer<C>, message: McpRequestMessage, context: C): Promise<ToolCall<C>> {
  const params = paramsOf(message);
  const [name, args = {}] = [getKey(params, 'name'), getKey(params, 'arguments')];
  if (typeof name !== 'string') throw new McpError(mcpErrors.invalidParams, 'name must be a text');
  const tool = await server.tool(name, context);
  if (!tool) {
    throw new McpError(mcpErrors.invalidParams, `unknown tool ${JSON.stringify(name.slice(0, 200))}`);
  }
  if (!isObject(args)) throw new McpError(mcpErrors.invalidParams, 'arguments must be an object');
  return { tool, args };
}

/** Compares arguments with the headers that mirror them. @throws McpError when one differs. */
export function checkHeaders<C>({ tool, args }: ToolCall<C>, request: McpRequest): void {
  checkMirrored(tool.mirrored, args, (name) => request.header(name));
}
