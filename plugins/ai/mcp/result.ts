import { type DataObject, discard, type Encoding, gunzipBody, type Log, type Reply } from '#contract';
import type { CheckData } from './json-schema.ts';

/** Longest body of a workflow that is handed on undecoded, in bytes. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** How the reply of a workflow becomes the result of a tool. */
export interface ResultRules {
  readonly type: 'text' | 'audio' | 'image';
  /** Of the data of the workflow. */
  readonly encoding: Encoding;
  /** Null where no schema is declared. */
  readonly output: CheckData | null;
  /** Clients are told what failed. */
  readonly tells: boolean;
  readonly log: Log;
}

/** A failure, as models are to see it. */
export function failedResult(text: string): DataObject {
  return { content: [{ type: 'text', text }], isError: true };
}

/** @throws Error when the body breaks off, or is too long. */
export function resultOf(reply: Reply, rules: ResultRules): DataObject | Promise<DataObject> {
  for (const error of reply.errors) rules.log.error(error.message);
  const isRefused = reply.status >= 400;
  if (reply.data !== null && !isRefused) {
    const { body } = rules.encoding.encode!(reply.data, undefined);
    return ofData(typeof body === 'string' ? body : textOf(body), () => reply.data!, rules);
  }
  if (reply.body !== null && !isRefused) return ofBytes(reply, rules);
  // As 204 is: done, and nothing to say.
  if (reply.errors.length === 0 && reply.status < 300 && !rules.output) return { content: [] };
  discard(reply.body);
  return failedResult(rules.tells ? textOfFailure(reply) : 'tool execution failed');
}

function textOfFailure({ errors, status }: Reply): string {
  if (errors.length > 0) return errors.map(({ message }) => message).join('\n');
  return `the call was refused with status ${status}`;
}

/** What there is of a result that is not whole is one, too. */
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
  const whole = reply.body instanceof Uint8Array ? reply.body : await reply.body!.collect(BODY_LIMIT_BYTES);
  const bytes = await gunzipBody(whole, reply.headers, BODY_LIMIT_BYTES);
  // A body that is already what its data would be written as comes undecoded.
  if (!encoding.raw) return ofData(textOf(bytes), () => encoding.decode!(bytes, false) ?? {}, rules);
  if (type === 'text') return { content: [{ type, text: textOf(bytes) }] };
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const mimeType = reply.headers.get('content-type') ?? 'application/octet-stream';
  return { content: [{ type, data, mimeType }] };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
