import { CallError, HandlerError, Reply } from '#contract';

/** Error that inner stages returned in place of a response. If a handler does not catch it, it is passed on unchanged. */
export class NextFailed extends CallError {
  readonly reply: Reply;
  /** Status sent to the client. */
  readonly statusCode: number;

  constructor(reply: Reply) {
    const [first] = reply.errors;
    super('PLUGIN_NEXT', first?.message ?? `refused with status ${reply.status}`, first && { cause: first });
    this.reply = reply;
    this.statusCode = reply.status;
  }
}

/** Returns whether a reply is an error that cannot be read as a response. */
export function isFailure(reply: Reply): boolean {
  const isBare = reply.data === null && reply.body === null;
  return !reply.skipped && !reply.upgrade && isBare && (reply.errors.length > 0 || reply.complete === null);
}

/**
 * Converts an error thrown by a handler to a reply with the error's status, body and content type.
 * @throws HandlerError for an error without a status, which is a bug in the handler.
 */
export function failedBy(error: unknown, name: string): Reply {
  if (error instanceof NextFailed) return error.reply;
  if (error instanceof HandlerError) throw error;
  if (error instanceof CallError) return Reply.failed(error);
  const { statusCode, message, body, encoding } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  const isStatus = Number.isInteger(statusCode) && (statusCode as number) >= 200 && (statusCode as number) <= 599;
  const text = typeof message === 'string' && message !== '' ? message : typeof error === 'string' ? error : name;
  const shown = typeof body === 'string' || body instanceof Uint8Array ? body : undefined;
  const view = {
    status: isStatus ? (statusCode as number) : 500,
    ...(shown !== undefined && { body: shown }),
    ...(typeof encoding === 'string' && encoding !== '' && { contentType: encoding }),
  };
  if (!isStatus) throw new HandlerError('PLUGIN_ERROR', text, { view, cause: error });
  return Reply.failed(new CallError('PLUGIN_ERROR', text, { view, cause: error }));
}

/** Creates the error for a handler that returned an invalid response. */
export function noAnswer(given: unknown): HandlerError {
  const type = given === null ? 'null' : typeof given;
  return new HandlerError('PLUGIN_RESPONSE', 'unknown response type', {
    cause: new TypeError(`unknown response type: ${type}`),
  });
}
