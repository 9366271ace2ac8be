import type { AttackStage, AttackTarget, SandboxRequest, SandboxResponse } from '#contract';
import type { Session } from '../sandbox/session.ts';

/** Maximum number of requests to backends that are kept for one request of an attack. */
const MAX_CALLS = 1000;

type Respond = Parameters<AttackTarget['respond']>[0];

/** The servers of a sandbox under attack: records what backends receive. */
export class AttackSession implements Session {
  readonly #stage: AttackStage;
  #calls: SandboxRequest[] = [];
  /** Replaces the responses of the mocked backends; null for the usual responses. */
  answer: Respond | null = null;

  constructor(stage: AttackStage) {
    this.#stage = stage;
  }

  respond(request: SandboxRequest): SandboxResponse {
    const served = this.#stage.serve(request);
    if (served) return served;
    if (this.#calls.length < MAX_CALLS) this.#calls.push(request);
    const response = this.#stage.backend(request);
    return this.answer ? { ...response, ...this.answer(request) } : response;
  }

  /** Returns the requests that backends received since the last call. */
  take(): readonly SandboxRequest[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  refused(): void {}

  logged(): void {}
}
