import type { ClientRequest, Log, RouterOptions, Step } from '#contract';
import type { Rendering } from '../pipeline/render.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { FallbackAnswers } from './answers.ts';
import type { RequestParts } from './client-request.ts';
import type { Destinations } from './destinations.ts';
import type { SeeHead } from './heads.ts';

/** What the exchanges of one runtime share. */
export interface ExchangeParts {
  readonly destinations: Destinations;
  readonly rendering: Rendering;
  readonly fallbacks: FallbackAnswers;
  readonly requests: RequestParts;
  readonly options: RouterOptions;
  /** What stands around everything that is answered; null for nothing. */
  readonly around: Step<ClientRequest> | null;
  /** Sees every head last; null for nobody. */
  readonly heads: SeeHead | null;
  /** The answer is handed to Koa instead of being written at once. */
  readonly throughKoa: boolean;
  readonly runtime: Runtime;
  readonly log: Log;
}
