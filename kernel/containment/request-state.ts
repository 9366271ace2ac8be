import { type ClientRequest, PipeRequest } from '#contract';

/** Snapshot of a request of either kind. */
export class RequestState {
  readonly #request: object;
  readonly #body: ClientRequest['body'];
  /** Complete copy of a pipe request. */
  readonly #copy: PipeRequest | null;
  /** Headers of a client request, its only mutable part. */
  readonly #headers: string[] | null;

  constructor(request: object) {
    this.#request = request;
    this.#body = (request as ClientRequest).body;
    const isPiped = request instanceof PipeRequest;
    this.#copy = isPiped ? request.copy() : null;
    this.#headers = isPiped ? null : (request as ClientRequest).headers.list.slice();
  }

  /** Restores the request. @returns false when that is impossible because its body has been read. */
  restore(): boolean {
    if (this.#body?.isTaken) return false;
    if (this.#copy) {
      Object.assign(this.#request, this.#copy);
      return true;
    }
    const client = this.#request as ClientRequest;
    client.headers.assign(this.#headers!);
    client.body = this.#body;
    return true;
  }
}
