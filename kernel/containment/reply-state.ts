import { ByteStream, Reply } from '#contract';

export function isReply(value: unknown): value is Reply {
  return value instanceof Reply;
}

/** True for a promise of any make. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** A reply as it was. What is inside its data is not looked at: what was changed there stays so. */
export class ReplyState {
  readonly #reply: Reply;
  readonly #fields: Reply;
  readonly #headers: string[];

  constructor(reply: Reply) {
    this.#reply = reply;
    this.#fields = Object.assign(new Reply(reply.status, reply.headers), reply);
    this.#headers = reply.headers.list.slice();
  }

  /** Makes the reply what it was. @returns false when that cannot be done: somebody has taken its bytes. */
  restore(): boolean {
    const { body } = this.#fields;
    if (body instanceof ByteStream && body.isTaken) return false;
    this.#fields.headers.assign(this.#headers);
    Object.assign(this.#reply, this.#fields);
    return true;
  }
}
