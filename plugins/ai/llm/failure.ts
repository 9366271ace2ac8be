import {
  BackendError,
  type BackendSite,
  ByteStream,
  CallError,
  type DataObject,
  defineSlot,
  isObject,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';
import type { Vendor } from './vendor.ts';

/** Longest body of a failure that is read, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/** What the vendor has refused for coming too often. */
interface Refusal {
  retryAfter: string | undefined;
  isRefused: boolean;
}

const refusalSlot = defineSlot<Refusal>('model refusal');

/** Shorter credentials are no secret, and may be a part of any word. */
const MIN_SECRET = 8;

/**
 * Logs status and code of what a vendor answers that is no success, never a word of the prompt or of the vendor. Some vendors
 * say which credentials they refuse: clients do not get to see them.
 */
export function reportingFailures(
  site: BackendSite<DataObject>,
  vendor: Vendor,
  credentials: string,
): Wrap<PipeRequest> {
  const report = async (reply: Reply): Promise<Reply> => {
    const bytes = await bodyOf(reply.body);
    if (bytes instanceof CallError) return Reply.failed(bytes);
    reply.body = credentials.length < MIN_SECRET ? bytes : withoutSecret(bytes, credentials);
    if (reply.body !== bytes) reply.headers.set('Content-Length', String(reply.body.length));
    const code = printable(vendor.errorCode(objectOf(bytes), reply.headers));
    site.log.warning(
      `[LLM] ${vendor.name}/${vendor.version}: status ${reply.status}${code === '' ? '' : `, code ${code}`}`,
    );
    return reply;
  };
  return (next) => async (request, call) => {
    const reply = await next(request, call);
    const refusal = call.get(refusalSlot);
    if (refusal) {
      refusal.isRefused = reply.status === 429;
      refusal.retryAfter = reply.headers.get('retry-after');
    }
    return reply.failed || reply.skipped || reply.status < 400 ? reply : report(reply);
  };
}

/** Tells the client of a vendor that wants fewer requests, and when to come back. Stands around the decoder. */
export function passingRefusals(): Wrap<PipeRequest> {
  return (next) => async (request, call) => {
    const refusal: Refusal = { isRefused: false, retryAfter: undefined };
    const reply = await next(request, call.with(refusalSlot, refusal));
    if (!refusal.isRefused || !reply.failed) return reply;
    const { message, cause, view = {}, code = 'BACKEND_STATUS' } = (reply.errors[0] ?? {}) as Partial<BackendError>;
    const error = new BackendError(code, message ?? '', { upstreamStatus: 429, view: { ...view, status: 429 }, cause });
    const refused = Reply.failed(error);
    if (refusal.retryAfter !== undefined) refused.headers.set('Retry-After', refusal.retryAfter);
    return refused;
  };
}

/** A body of up to `maxBytes`, or why it could not be read. */
export async function bodyOf(body: Reply['body'], maxBytes = MAX_BODY_BYTES): Promise<Uint8Array | CallError> {
  if (!(body instanceof ByteStream)) return body ?? new Uint8Array();
  try {
    return await body.collect(maxBytes);
  } catch (error) {
    return error instanceof CallError
      ? error
      : new BackendError('LLM_FAILURE', `the response of the vendor cannot be read: ${(error as Error).message}`);
  }
}

/** The same bytes where the credentials are not among them. */
function withoutSecret(bytes: Uint8Array, credentials: string): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const forms = [credentials, JSON.stringify(credentials).slice(1, -1)].filter((form) => text.includes(form));
  if (forms.length === 0) return bytes;
  return Buffer.from(
    forms.reduce((shown, form) => shown.replaceAll(form, '***'), text.toString('latin1')),
    'latin1',
  );
}

function objectOf(bytes: Uint8Array): DataObject {
  try {
    const data = JSON.parse(Buffer.from(bytes).toString());
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}

/** A code, as far as it looks like one; else empty: whatever else a vendor says is for no log. */
export function printable(code: unknown): string {
  return (typeof code === 'string' || typeof code === 'number') && /^[\w.:-]{1,100}$/.test(String(code))
    ? String(code)
    : '';
}
