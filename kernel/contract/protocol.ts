import type { PipeRequest } from './message.ts';
import type { Step } from './step.ts';

/**
 * How a backend is reached. The step gets the finished request and answers with a raw reply, status, headers and body as
 * the backend gave them, or with data, or with a failed reply with a `BackendError`. How its pipe ended it can learn from
 * `call.onEnd`: the time to acknowledge a message.
 */
export interface Protocol {
  readonly call: Step<PipeRequest>;
  /**
   * What the reply brings: `bytes`, read in the backend's `encoding`, which is the default, or `data`. Either is shaped
   * as the backend says.
   */
  readonly replies?: 'bytes' | 'data';
  /** The reply's body may go on for as long as the client listens: outputs that stream may be used. Default false. */
  readonly streams?: true;
  /**
   * The step answers by itself as soon as its call is over, at the latest: nobody need watch over it. Not asked of requests
   * with a body. Default false.
   */
  readonly heedsCall?: true;
  /** The query of `url_pattern` is sent beside the parameters let through, and in the place of those of the same name. */
  readonly keepsQuery?: true;
  /**
   * Handed what gives the backend's addresses one after another, as its discovery knows them; undefined while it knows none.
   * For what connects by itself, before anybody asks or once more. Called once, when the pipe is compiled.
   */
  readonly addresses?: (next: () => string | undefined) => void;
  /** The backend carries its own address: `host` is not needed and not used. Default false. */
  readonly hostless?: true;
  /**
   * It depends on nothing of its endpoint and its backend but the hosts, and keeps nothing for them: attached without a
   * configuration of its own it may serve other backends with the same hosts, too. Default false.
   */
  readonly shareable?: true;
  /** What the addresses of backends begin with, as in `http`. Default: anything. */
  readonly schemes?: readonly string[];
}
