import { type ClientRequest, PipeRequest } from '#contract';

/** A request as it was, whichever of the two kinds. */
export class RequestState {
  readonly #request: object;
  readonly #body: ClientRequest['body'];
  /** Of a pipe: everything. */
  readonly #copy: PipeRequest | null;
  /** Of a client: what alone can be changed in it. */
  readonly #headers: string[] | null;

  constructor(request: object) {
    this.#request = request;
    this.#body = (request as ClientRequest).body;
    const isPiped = request instanceof PipeRequest;
    this.#copy = isPiped ? request.copy() : null;
    this.#headers = isPiped ? null : (request as ClientRequest).headers.list.slice();
  }

  /** Makes the request what it was. @returns false when that cannot be done: somebody has taken its body. */
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
