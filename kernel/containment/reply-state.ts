import { ByteStream, type HeaderBag, Reply } from '#contract';

export function isReply(value: unknown): value is Reply {
  return value instanceof Reply;
}

/** True for any kind of promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Snapshot of a reply. Shallow: changes within its data are not reverted. */
export class ReplyState {
  readonly #reply: Reply;
  readonly #status: number;
  readonly #headers: HeaderBag;
  readonly #list: string[];
  readonly #data: Reply['data'];
  readonly #body: Reply['body'];
  readonly #complete: boolean | null;
  readonly #skipped: boolean;
  readonly #trailers: Reply['trailers'];
  readonly #outcome: Reply['outcome'];
  readonly #upgrade: Reply['upgrade'];
  readonly #errors: Reply['errors'];

  // Fields are copied one by one, because copying a class instance costs four times as much.
  constructor(reply: Reply) {
    this.#reply = reply;
    this.#status = reply.status;
    this.#headers = reply.headers;
    this.#list = reply.headers.list.slice();
    this.#data = reply.data;
    this.#body = reply.body;
    this.#complete = reply.complete;
    this.#skipped = reply.skipped;
    this.#trailers = reply.trailers;
    this.#outcome = reply.outcome;
    this.#upgrade = reply.upgrade;
    this.#errors = reply.errors;
  }

  /** Restores the reply. @returns false when that is impossible because its bytes have been read. */
  restore(): boolean {
    const reply = this.#reply;
    if (this.#body instanceof ByteStream && this.#body.isTaken) return false;
    this.#headers.assign(this.#list);
    reply.status = this.#status;
    reply.headers = this.#headers;
    reply.data = this.#data;
    reply.body = this.#body;
    reply.complete = this.#complete;
    reply.skipped = this.#skipped;
    reply.trailers = this.#trailers;
    reply.outcome = this.#outcome;
    reply.upgrade = this.#upgrade;
    reply.errors = this.#errors;
    return true;
  }
}
