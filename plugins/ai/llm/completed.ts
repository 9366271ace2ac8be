import { BackendError, CallError, type DataObject, HeaderBag, isObject, Reply } from '#contract';
import type { Tokens } from '../../shared/ports/model-usage.ts';
import type { ChatCompletion } from '../lib/chat.ts';
import { completionOf } from './completion.ts';
import { bodyOf } from './failure.ts';
import { tokensOf } from './usage.ts';
import type { Vendor } from './vendor.ts';

/** Maximum size of a response that is not streamed, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface Completing {
  readonly vendor: Vendor;
  /** Stop sequences at which the texts are cut off. */
  readonly stops: readonly string[];
  readonly report: (tokens: number) => void;
  readonly finish: (tokens: Tokens) => void;
}

/** Converts the vendor's complete response to a `chat.completion` object. */
export async function completed(
  { body }: Reply,
  chat: ChatCompletion,
  { vendor, stops, report, finish }: Completing,
): Promise<Reply> {
  const bytes = await bodyOf(body, MAX_ANSWER_BYTES);
  if (bytes instanceof CallError) return Reply.failed(bytes);
  const data = parse(bytes);
  if (data === null) return Reply.failed(new BackendError('LLM_ANSWER', 'the response of the vendor is not JSON'));
  const answer = vendor.read(data);
  if (answer.usage.total > 0) {
    report(answer.usage.total);
    finish(tokensOf(answer.usage));
  }
  const text = JSON.stringify(completionOf(answer, chat, stops));
  return Reply.raw(200, new HeaderBag(['Content-Type', 'application/json']), Buffer.from(text));
}

function parse(bytes: Uint8Array): DataObject | null {
  try {
    const data = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
    return isObject(data) ? data : null;
  } catch {
    return null;
  }
}
