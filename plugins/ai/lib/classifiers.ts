import { type Call, definePort, type PipeRequest, type Port } from '#contract';

/** A named condition on requests. */
export interface Gate {
  /** The condition in words, for `sluice explain`. */
  readonly inWords: string;
  /** True if `passes` needs the request body. */
  readonly readsBody: boolean;
  /**
   * Tests whether the request meets the condition. Synchronous; a failed evaluation counts as not met.
   * @param body the buffered request body, for example from `request.body.bytesToParse()`; needed if `readsBody` is
   * set.
   */
  passes(request: PipeRequest, body: Uint8Array | undefined, call: Call): boolean;
}

/** A provider that a classifier can choose. */
export interface Candidate {
  /** Name of the provider in `ai/providers`. */
  readonly name: string;
  /** Vendor, for example `openai`. */
  readonly vendor: string;
  /** Model name at the vendor. */
  readonly model: string;
}

/** Chooses one of several providers for a request. */
export interface Classifier {
  /**
   * @param candidates at least one, with different names.
   * @param body the buffered request body.
   * @returns one of the candidates.
   * @throws CallError `CLASSIFIER_FAILED` if there was a response without a valid choice; the call's abort reason if
   * the call ends first.
   */
  choose<T extends Candidate>(
    candidates: readonly T[],
    request: PipeRequest,
    body: Uint8Array | undefined,
    call: Call,
  ): Promise<T>;
}

/** The gates and classifiers of the service, by name. */
export interface Classifiers {
  readonly gates: ReadonlyMap<string, Gate>;
  readonly classifiers: ReadonlyMap<string, Classifier>;
}

/** Lets `ai/classifiers` provide its gates (conditions on requests) and classifiers to other components. */
export const classifiersPort: Port<Classifiers> = definePort('ai classifiers');
