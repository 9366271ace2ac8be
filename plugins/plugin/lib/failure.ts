import { CallError, HandlerError, Reply } from '#contract';

/** What code inside has answered instead of a response: it goes on as it is where nobody catches it. */
export class NextFailed extends CallError {
  readonly reply: Reply;
  /** What the client is told. */
  readonly statusCode: number;

  constructor(reply: Reply) {
    const [first] = reply.errors;
    super('PLUGIN_NEXT', first?.message ?? `refused with status ${reply.status}`, first && { cause: first });
    this.reply = reply;
    this.statusCode = reply.status;
  }
}

/** A reply that is no response anybody could look at. */
export function isFailure(reply: Reply): boolean {
  const isBare = reply.data === null && reply.body === null;
  return !reply.skipped && !reply.upgrade && isBare && (reply.errors.length > 0 || reply.complete === null);
}

/**
 * What a handler has thrown, as the answer: a status, a body and its type are those of the error.
 * @throws HandlerError for an error without a status, which is a mistake of the handler's.
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

/** A handler has answered with something that is no answer. */
export function noAnswer(given: unknown): HandlerError {
  const type = given === null ? 'null' : typeof given;
  return new HandlerError('PLUGIN_RESPONSE', 'unknown response type', {
    cause: new TypeError(`unknown response type: ${type}`),
  });
}
