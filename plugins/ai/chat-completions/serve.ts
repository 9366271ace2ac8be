import {
  ByteStream,
  type Call,
  CallError,
  type ClientRequest,
  type DataObject,
  getPath,
  HeaderBag,
  isObject,
  PipeRequest,
  Query,
  type Reply,
  RequestBody,
  type Step,
} from '#contract';
import { chatSlot } from '../lib/chat.ts';
import { type Failure, RequestError, refusal } from './failure.ts';
import { unknownModel } from './listing.ts';
import type { Models } from './models.ts';
import { type Requested, readRequest } from './request.ts';

/** Maximum size of a vendor's error body, in bytes. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** Routes chat completions to the models that they name. */
export function serveCompletions(models: Models): Step<ClientRequest> {
  return async (request, call) => {
    try {
      return await complete(models, request, call);
    } catch (error) {
      if (error instanceof RequestError) return refusal(call, error.failure);
      if (error instanceof CallError) return refusal(call, failureOf(error));
      throw error;
    }
  };
}

async function complete(models: Models, request: ClientRequest, call: Call): Promise<Reply> {
  const requested = await readRequest(request);
  const model = models.get(requested.chat.model);
  if (!model) return refusal(call, unknownModel(requested.chat.model));
  const reply = await model.call(pipeRequest(request, requested), call.with(chatSlot, requested.chat));
  const [error] = reply.errors;
  if (error) return refusal(call, { ...failureOf(error), headers: retryAfter(reply) });
  if (reply.status !== 200) return refusal(call, await vendorFailure(reply));
  reply.complete = null;
  return reply;
}

function pipeRequest(client: ClientRequest, { bytes }: Requested): PipeRequest {
  const headers = new HeaderBag(['Content-Type', 'application/json']);
  const request = new PipeRequest(client, { ...client.params }, new Query(), headers, RequestBody.of(bytes));
  request.method = 'POST';
  return request;
}

/** Maps an error raised by the gateway. Client errors keep their message; all others get a generic one. */
function failureOf(error: CallError): Failure {
  const { status = 500 } = error.view;
  if (error.code === 'CALL_DEADLINE') {
    return { status: 504, type: 'timeout_error', message: 'the model did not respond in time', cause: error };
  }
  if (status < 500) return { status, type: 'invalid_request_error', message: error.message, cause: error };
  return { status: 502, type: 'api_error', message: 'the model could not be reached', cause: error };
}

/**
 * Maps an error response of the vendor. Errors in the request are passed to the client. Errors between the gateway and
 * the vendor, such as invalid credentials, are not: a 401 would look like the client's own.
 */
async function vendorFailure(reply: Reply): Promise<Failure> {
  const { status } = reply;
  const headers = retryAfter(reply);
  const message = messageIn(await bodyOf(reply));
  if (status === 429) {
    return {
      status,
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: message ?? 'too many requests',
      headers,
    };
  }
  if (status === 400 || status === 413 || status === 422) {
    return { status, type: 'invalid_request_error', message: message ?? 'the model rejected the request' };
  }
  return { status: 502, type: 'api_error', message: `the model returned status ${status}`, headers };
}

function retryAfter({ headers }: Reply): HeaderBag {
  const value = headers.get('retry-after');
  return new HeaderBag(value === undefined ? [] : ['Retry-After', value]);
}

async function bodyOf({ body }: Reply): Promise<DataObject> {
  try {
    const bytes = body instanceof ByteStream ? await body.collect(MAX_ERROR_BYTES) : (body ?? new Uint8Array());
    const data = JSON.parse(Buffer.from(bytes).toString());
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}

function messageIn(body: DataObject): string | undefined {
  const message = getPath(body, ['error', 'message']) ?? body['message'];
  return typeof message === 'string' && message !== '' ? message : undefined;
}
