import {
  type BackendConfig,
  BackendError,
  type CallError,
  type DataObject,
  gunzipBody,
  type PipeRequest,
  Reply,
  type Step,
  setKey,
  type Wrap,
} from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';

/** Maximum size of an error body, in bytes. A longer one fails the call. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

type Failed = (reply: Reply, request: PipeRequest) => Promise<Reply>;

/** Adds an error status to the data, as `error_<alias>`. The backend's part of the response counts as present, but not as complete. */
export function errorDetails(alias: string, backend: BackendConfig): Wrap<PipeRequest> {
  return onFailedStatus(async (raw, request) => {
    const bytes = await bodyOf(raw);
    const type = raw.headers.get('content-type');
    const details: DataObject = { http_status_code: raw.status };
    if (bytes.length > 0) setKey(details, 'http_body', Buffer.from(bytes).toString());
    if (type) setKey(details, 'http_body_encoding', type);
    // The name can be read by scripts, but it is not serialized in responses to clients.
    Object.defineProperty(details, 'name', { value: alias });
    const reply = Reply.data({ [`error_${alias}`]: details }, false);
    reply.errors = [statusError(raw.status, backend, request)];
    return reply;
  });
}

/** Returns an error status to the client, with the body and content type if error messages are returned to clients. */
export function errorCode(backend: BackendConfig): Wrap<PipeRequest> {
  return onFailedStatus(async (raw, request) => {
    const { status } = raw;
    const body = await bodyOf(raw);
    const contentType = raw.headers.get('content-type');
    const view = { status, body, ...(contentType !== undefined && { contentType }) };
    return Reply.failed(statusError(status, backend, request, view));
  });
}

function onFailedStatus(failed: Failed): Wrap<PipeRequest> {
  return (next: Step<PipeRequest>) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then((settled) => checked(settled, request)) : checked(reply, request);
  };

  function checked(reply: Reply, request: PipeRequest): Reply | Promise<Reply> {
    if (reply.errors.length > 0 || reply.data !== null || reply.status === 200 || reply.status === 201) return reply;
    return failed(reply, request).catch((error: CallError) => Reply.failed(error));
  }
}

async function bodyOf(reply: Reply): Promise<Uint8Array> {
  return gunzipBody(await bytesOf(reply, MAX_BODY_BYTES), reply.headers, MAX_BODY_BYTES);
}

function statusError(
  status: number,
  backend: BackendConfig,
  request: PipeRequest,
  view?: BackendError['view'],
): BackendError {
  const url = (request.origin + request.target).replace(/^([a-z][a-z\d+.-]*:\/\/)[^/@]*@/i, '$1');
  const text = `invalid status code ${status} [${backend.method} ${backend.url_pattern}]: ${url}`;
  return new BackendError('BACKEND_STATUS', text, { upstreamStatus: status, ...(view && { view }) });
}
