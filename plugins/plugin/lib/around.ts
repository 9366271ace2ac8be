import {
  type Call,
  discard,
  type MiddlewareHandler,
  type MiddlewareNext,
  type PipeRequest,
  type Reply,
  type Step,
  type Wrap,
} from '#contract';
import { ContextView } from './context.ts';
import { failedBy, isFailure, NextFailed, noAnswer } from './failure.ts';
import type { Made } from './make.ts';
import { isRequestLike, RequestView, writeRequest } from './request.ts';
import { isResponseLike, ResponseView, toReply } from './response.ts';
import { elsewhere, type SyncTime } from './sync-time.ts';

/** Settings of the endpoint or backend whose middleware runs. */
export interface MiddlewareStance {
  /** Whether the endpoint or backend passes bodies through undecoded. */
  readonly raw: boolean;
  readonly time: SyncTime;
}

/** Converts a middleware to a pipe stage. */
export function aroundPipe(made: Made<MiddlewareHandler>, stance: MiddlewareStance): Wrap<PipeRequest> {
  return (next) => (request, call) => new MiddlewareCall(made, stance, next, request, call).run();
}

/** One request on its way through one middleware. */
class MiddlewareCall {
  readonly #made: Made<MiddlewareHandler>;
  readonly #stance: MiddlewareStance;
  readonly #next: Step<PipeRequest>;
  readonly #request: PipeRequest;
  readonly #call: Call;
  readonly #given: RequestView;
  /** Responses of the inner stages. */
  #responses: ResponseView[] = [];
  #isOver = false;

  constructor(
    made: Made<MiddlewareHandler>,
    stance: MiddlewareStance,
    next: Step<PipeRequest>,
    request: PipeRequest,
    call: Call,
  ) {
    this.#made = made;
    this.#stance = stance;
    this.#next = next;
    this.#request = request;
    this.#call = call;
    this.#given = new RequestView(request);
  }

  async run(): Promise<Reply> {
    const { handle, name } = this.#made;
    const { time, raw } = this.#stance;
    const context = new ContextView(this.#call, this.#request.client);
    try {
      const answer = await time.run(() => handle(context, this.#given, this.#goOn));
      if (!isResponseLike(answer)) throw noAnswer(answer);
      return this.#end(toReply(answer, raw, this.#call));
    } catch (error) {
      return this.#failed(error, name);
    }
  }

  #failed(error: unknown, name: string): Reply {
    try {
      return this.#end(failedBy(error, name));
    } catch (fault) {
      // Inner responses are kept until the call ends, because one of them may still become the final response.
      this.#call.onEnd(() => this.#end(null));
      throw fault;
    }
  }

  readonly #goOn: MiddlewareNext = (given = this.#given) => {
    const going = elsewhere(() => this.#send(given));
    // Handles the rejection of a promise that the handler does not await, so that it does not end the process.
    going.catch(ignored);
    return going;
  };

  async #send(given: object): Promise<ResponseView> {
    if (!isRequestLike(given)) throw new TypeError('next requires a request');
    writeRequest(given, this.#given, this.#request, this.#call);
    // Inner stages receive a copy to change, so that the handler can call `next` again.
    const reply = await this.#next(this.#request.copy(), this.#call);
    if (isFailure(reply)) throw new NextFailed(reply);
    const response = new ResponseView(reply);
    if (this.#isOver) discard(reply.body);
    else this.#responses.push(response);
    return response;
  }

  /** Discards the inner responses that are not part of the response. */
  #end<R extends Reply | null>(reply: R): R {
    this.#isOver = true;
    for (const response of this.#responses) {
      const inner = ResponseView.replyOf(response);
      const stream = ResponseView.fieldOf(response)?.stream;
      if (stream && !reply) stream.destroy();
      else if (stream) this.#call.onEnd(() => stream.destroy());
      else if (!reply || inner.body !== reply.body) discard(inner.body);
    }
    return reply;
  }
}

function ignored(): void {}
