import type { PipeRequest } from './message.ts';
import type { Step } from './step.ts';

/**
 * A way to reach a backend. The step receives the final request and returns a raw reply (status, headers and body of
 * the backend), data, or a failed reply with a `BackendError`. `call.onEnd` reports the outcome, which is the time to
 * acknowledge a message.
 */
export interface Protocol {
  readonly call: Step<PipeRequest>;
  /**
   * Content of replies: `bytes`, decoded with the backend's `encoding` (default), or `data`. Both are shaped by the
   * backend's fields.
   */
  readonly replies?: 'bytes' | 'data';
  /** Reply bodies can last as long as the client reads, so streaming outputs are allowed. Default: false. */
  readonly streams?: true;
  /**
   * The step returns as soon as its call is over, so the caller needs no timer. Not required for requests with a body.
   * Default: false.
   */
  readonly heedsCall?: true;
  /** Sends the query of `url_pattern` together with the forwarded parameters, and instead of those with the same name. */
  readonly keepsQuery?: true;
  /**
   * Receives a function that returns the backend's addresses in turn, as known to service discovery; undefined while
   * none is known. For protocols that connect on their own. Called once, when the pipe is compiled.
   */
  readonly addresses?: (next: () => string | undefined) => void;
  /**
   * The backend contains its own address: `host` is neither required nor used. A plugin whose protocols all do declares
   * `hostless` as well, so that `check` reports nothing about these hosts. Default: false.
   */
  readonly hostless?: true;
  /**
   * Depends only on the hosts of its backend and keeps no state for them: attached without its own configuration, it
   * can serve other backends with the same hosts. Default: false.
   */
  readonly shareable?: true;
  /** URL schemes of backends, for example `http`. Default: any. */
  readonly schemes?: readonly string[];
}
