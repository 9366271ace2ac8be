import { type Call, CallError, type ClientRequest, type PipeRequest, printJson, Reply } from '#contract';
import { errorBody } from './chat.ts';

/** Reason for which the text of a body cannot be read, so that inspection would be bypassed; null for readable bodies. */
export function unreadableReason({ headers }: ClientRequest | PipeRequest): string | null {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return 'the request body is compressed';
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers.get('content-type') ?? '') ?? [];
  return /^(?:utf-?8|us-ascii|iso-8859-1)$/i.test(charset) ? null : 'the request body is not in UTF-8';
}

/** A rejection in the format of OpenAI's API. @param logged message for the log. Default: the message for the client. */
export function refusal(call: Call, status: number, code: string, message: string, logged = message): Reply {
  const body = printJson(errorBody(call, { message, type: 'invalid_request_error', code: code.toLowerCase() }));
  return Reply.failed(
    new CallError(code, logged, { view: { status, body, contentType: 'application/json', always: true } }),
  );
}
