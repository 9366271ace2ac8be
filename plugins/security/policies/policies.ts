import { type Call, CallError, type Log, type PipeRequest } from '#contract';
import type { Conditions } from '../../engines/cel/conditions.ts';
import type { Expression } from '../../engines/cel/expression.ts';
import { withSource } from '../../engines/cel/macro-source.ts';
import { requestMacros } from '../../engines/cel/macros.ts';
import { type Readable, Variables } from '../../engines/cel/variables.ts';
import type { LocateAddress } from '../../shared/ports/geo.ts';
import { shownInputs } from './inputs.ts';
import type { Block } from './schema.ts';

/** Settings for evaluating the policies of one endpoint or backend. */
export interface PolicySettings {
  /** Log whose lines begin with the name of the endpoint or backend. */
  readonly log: Log;
  readonly locate: LocateAddress | undefined;
  /** True when all policies of a block are logged as one. */
  readonly joined: boolean;
  readonly debug: boolean;
}

/** A policy, and its position in its block. */
interface Policy {
  readonly index: number;
  readonly expression: Expression;
}

/** One block of policies. */
export class Policies implements Conditions {
  readonly #policies: readonly Policy[];
  readonly #settings: PolicySettings;
  readonly #error: Block['error'];

  constructor(policies: readonly Policy[], settings: PolicySettings, error?: Block['error']) {
    this.#policies = policies;
    this.#settings = settings;
    this.#error = error;
  }

  get any(): boolean {
    return this.#policies.length > 0;
  }

  /** Policies that call a function that uses the request also count as reading the request. */
  reads(prefix: string): boolean {
    return this.#policies.some(
      ({ expression: { reads, calls } }) =>
        [...reads].some((name) => name.startsWith(prefix)) ||
        (prefix === 'req_' && [...calls].some((name) => requestMacros.has(name))),
    );
  }

  readingData(reads: boolean): Policies {
    const chosen = this.#policies.filter(({ expression }) => expression.reads.has('resp_data') === reads);
    return new Policies(chosen, this.#settings, this.#error);
  }

  /** @returns the error that ends the call; null when every policy holds. Code: POLICY_FAILED. */
  check(from: Readable, call: Call, isMessage = false): CallError | null {
    const variables = new Variables(from);
    const { log, joined, debug, locate } = this.#settings;
    const source = from.request?.client ? { request: from.request as PipeRequest, locate } : null;
    for (const { index, expression } of this.#policies) {
      if (debug) log.info(() => `policy #${index} reads ${shownInputs(expression, variables)}`);
      const verdict = withSource(source, () => expression.evaluate(variables, Math.max(call.remainingMs, 0)));
      if (verdict === true) {
        const passed = () => `policy #${index} passed: ${expression.source}`;
        if (debug) log.info(passed);
        else log.debug(passed);
        continue;
      }
      const reason = typeof verdict === 'string' ? ` (${verdict})` : '';
      const at = joined ? 0 : index;
      log[isMessage && !debug ? 'debug' : 'info'](
        () => `policy #${at} failed: ${joined ? this.#joined : expression.source}${reason}`,
      );
      return this.#failure(`policy #${at} failed${reason}`);
    }
    return null;
  }

  get #joined(): string {
    return this.#policies.map(({ expression: { source } }) => `(${source})`).join(' && ');
  }

  #failure(message: string): CallError {
    const { status = 500, body = '', content_type: contentType = 'text/plain' } = this.#error ?? {};
    return new CallError('POLICY_FAILED', message, { view: { status, body: body || message, contentType } });
  }
}
