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
  /**
   * Whether reply bodies can last as long as the client reads them, so that streaming outputs are allowed. Default:
   * false.
   */
  readonly streams?: true;
  /**
   * Whether the step ends as soon as its call does, so that the caller needs no timer. Requests with a body are exempt.
   * Default: false.
   */
  readonly heedsCall?: true;
  /**
   * Whether the query of `url_pattern` is sent together with the forwarded parameters, and replaces those with the same
   * name. Default: false.
   */
  readonly keepsQuery?: true;
  /**
   * Receives a function that returns one of the backend's addresses, in turn, from service discovery; undefined while
   * no address is known. For protocols that connect on their own. Called once, when the pipe is compiled.
   */
  readonly addresses?: (next: () => string | undefined) => void;
  /**
   * Whether the backend contains its own address, so that `host` is neither required nor used. If all protocols of a
   * plugin do, the plugin also declares `hostless`, so that `check` reports nothing about these hosts. Default: false.
   */
  readonly hostless?: true;
  /**
   * Whether the protocol depends only on the hosts of its backend and keeps no state for it. Without a configuration of
   * its own, one instance then serves all backends with the same hosts. Default: false.
   */
  readonly shareable?: true;
  /** URL schemes of backends, for example `http`. Default: any. */
  readonly schemes?: readonly string[];
}
