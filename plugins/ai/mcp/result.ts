import { type DataObject, discard, type Encoding, gunzipBody, type Log, type Reply } from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';
import type { CheckData } from './json-schema.ts';

/** Maximum size of a workflow's response body that is passed on undecoded, in bytes. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** Rules for converting the reply of a workflow to the result of a tool. */
export interface ResultRules {
  readonly type: 'text' | 'audio' | 'image' | 'binary';
  readonly tool: string;
  /** Encoding of the workflow's data. */
  readonly encoding: Encoding;
  /** Output schema; null if none is declared. */
  readonly output: CheckData | null;
  /** Whether clients receive error messages. */
  readonly showsErrors: boolean;
  readonly log: Log;
}

/** An error result for the model. */
export function failedResult(text: string): DataObject {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Converts a reply to a tool result. @throws Error if the body is truncated or too long. */
export function resultOf(reply: Reply, rules: ResultRules): DataObject | Promise<DataObject> {
  for (const error of reply.errors) rules.log.error(error.message);
  const isRefused = reply.status >= 400;
  if (reply.data !== null && !isRefused) {
    const { body } = rules.encoding.encode!(reply.data, undefined);
    return ofData(typeof body === 'string' ? body : textOf(body), () => reply.data!, rules);
  }
  if (reply.body !== null && !isRefused) return ofBytes(reply, rules);
  // A successful response without a body, such as 204.
  if (reply.errors.length === 0 && reply.status < 300 && !rules.output) return { content: [] };
  discard(reply.body);
  return failedResult(rules.showsErrors ? textOfFailure(reply) : 'tool execution failed');
}

function textOfFailure({ errors, status }: Reply): string {
  if (errors.length > 0) return errors.map(({ message }) => message).join('\n');
  return `the call was rejected with status ${status}`;
}

/** Converts data to a result. Incomplete data also counts as a result. */
function ofData(text: string, read: () => DataObject, { output, log }: ResultRules): DataObject {
  const content = [{ type: 'text', text }];
  if (!output) return { content };
  const data = read();
  const violations = output(data);
  if (violations === null) return { content, structuredContent: data };
  log.error(`the result does not match output_schema:\n${violations}`);
  return failedResult('the result of the tool does not match its output schema');
}

async function ofBytes(reply: Reply, rules: ResultRules): Promise<DataObject> {
  const { type, encoding } = rules;
  const bytes = await gunzipBody(await bytesOf(reply, BODY_LIMIT_BYTES), reply.headers, BODY_LIMIT_BYTES);
  // The body is already the encoded form of the data, so it is read without decoding.
  if (!encoding.raw) return ofData(textOf(bytes), () => encoding.decode!(bytes, false) ?? {}, rules);
  if (type === 'text') return { content: [{ type, text: textOf(bytes) }] };
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const mimeType = reply.headers.get('content-type') ?? 'application/octet-stream';
  if (type !== 'binary') return { content: [{ type, data, mimeType }] };
  // Bytes of other content types are sent as an embedded resource, which requires a URI.
  const uri = `tool:///${encodeURIComponent(rules.tool)}`;
  return { content: [{ type: 'resource', resource: { uri, mimeType, blob: data } }] };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
