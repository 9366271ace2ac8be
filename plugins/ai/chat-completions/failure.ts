import { type Call, CallError, type HeaderBag, type Reply, refuse } from '#contract';
import { errorBody } from '../lib/chat.ts';

/** Error of a failed request, in the format of OpenAI's API. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'api_error' | 'timeout_error';
  readonly code?: string | null;
  /** Name of the invalid request field. */
  readonly param?: string | null;
  readonly headers?: HeaderBag;
  readonly cause?: unknown;
}

/** An error in the client's request. Always maps to a 4xx status. */
export class RequestError extends Error {
  readonly failure: Failure;

  constructor(message: string, failure: Partial<Omit<Failure, 'message'>> = {}) {
    super(message);
    this.failure = { status: 400, type: 'invalid_request_error', ...failure, message };
  }
}

/** Builds the error reply. Its body is sent even if the gateway is configured not to return error messages. */
export function refusal(call: Call, failure: Failure): Reply {
  const { status, message, headers, cause } = failure;
  const body = JSON.stringify(errorBody(call, failure));
  const view = { status, body, contentType: 'application/json', always: true } as const;
  const error = new CallError('CHAT_COMPLETION', message, { view, cause });
  return refuse(status, { error, ...(headers && { headers }) });
}
