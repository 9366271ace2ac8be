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

/** Maximum size of an error body that is read, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Rate limiting by the vendor: whether it responded with 429, and its `Retry-After`. */
interface Refusal {
  retryAfter: string | undefined;
  isRefused: boolean;
}

const refusalSlot = defineSlot<Refusal>('model refusal');

/** Minimum length of credentials that are masked. Shorter texts may also occur in ordinary words. */
const MIN_SECRET = 8;

/**
 * Logs the status and code of the vendor's error responses, but never text of the prompt or the vendor. Masks the
 * credentials in the body, because some vendors repeat rejected credentials in their errors.
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

/** Passes the vendor's 429 and its `Retry-After` to the client. Must wrap the decoder. */
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

/** Reads a body of up to `maxBytes`. Returns the error if reading fails. */
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

/** Masks the credentials. Returns the same bytes if they do not contain the credentials. */
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

/**
 * Returns the error code if it looks like one, and an empty string otherwise: other text of the vendor must not be
 * logged.
 */
export function printable(code: unknown): string {
  return (typeof code === 'string' || typeof code === 'number') && /^[\w.:-]{1,100}$/.test(String(code))
    ? String(code)
    : '';
}
