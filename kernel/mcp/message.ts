import { type Data, type DataObject, getKey, isObject } from '../values/data.ts';
import { parseExact } from '../values/json.ts';
import { isTooDeep, MAX_LEVELS } from './nesting.ts';

/** Error codes of JSON-RPC and the Model Context Protocol. */
export const mcpErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The request cannot be processed as it was sent: it has no session, or accepts no available response format. */
  refused: -32000,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

/** A JSON-RPC error, returned for a request that cannot be processed. */
export class McpError extends Error {
  readonly code: number;
  readonly data: DataObject | undefined;

  constructor(code: number, message: string, data?: DataObject) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.data = data;
  }
}

/** Identifies a request: a string or a number. */
export type RequestId = Exclude<Data, null | boolean | Data[] | DataObject>;

export interface McpRequestMessage {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  /** Undefined when `params` is present but not an object. */
  readonly params: DataObject | undefined;
}

/** One message from a client. */
export type McpMessage =
  | McpRequestMessage
  | { readonly kind: 'notification'; readonly method: string; readonly params: DataObject | undefined }
  | { readonly kind: 'response'; readonly id: RequestId };

/**
 * Parses a body with a single message.
 * @throws McpError for invalid JSON, an invalid message, or a batch.
 */
export function readMessage(text: string): McpMessage {
  const value = parsedMessage(text);
  if (Array.isArray(value)) throw new McpError(mcpErrors.invalidRequest, 'batches are not supported: send one message');
  if (!isObject(value) || getKey(value, 'jsonrpc') !== '2.0') throw invalid('expected a JSON-RPC 2.0 message');
  const [id, method, params] = [getKey(value, 'id'), getKey(value, 'method'), getKey(value, 'params')];
  const isKnown = isRequestId(id);
  if (id !== undefined && !isKnown) throw invalid('id must be a text or a number');
  if (method === undefined) {
    const isResponse = Object.hasOwn(value, 'result') !== Object.hasOwn(value, 'error');
    if (!isKnown || !isResponse) throw invalid('a method is missing');
    return { kind: 'response', id };
  }
  if (typeof method !== 'string') throw invalid('method must be a text');
  const fields = params === undefined ? {} : isObject(params) ? params : undefined;
  return isKnown ? { kind: 'request', id, method, params: fields } : { kind: 'notification', method, params: fields };
}

/** Parses the JSON of a message. @throws McpError for invalid JSON, and for JSON that is nested too deeply. */
export function parsedMessage(text: string): Data {
  if (isTooDeep(text)) throw new McpError(mcpErrors.parse, `the body is nested more than ${MAX_LEVELS} levels deep`);
  try {
    return parseExact(text);
  } catch {
    throw new McpError(mcpErrors.parse, 'the body is not valid JSON');
  }
}

function isRequestId(value: Data | undefined): value is RequestId {
  return typeof value === 'string' || typeof value === 'number' || JSON.isRawJSON(value);
}

function invalid(message: string): McpError {
  return new McpError(mcpErrors.invalidRequest, message);
}

/**
 * Builds an error response. @param id null if the id could not be read; undefined if the error does not concern a
 * particular request.
 */
export function errorMessage(id: RequestId | null | undefined, { code, message, data }: McpError): DataObject {
  return {
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    error: { code, message, ...(data && { data }) },
  };
}
