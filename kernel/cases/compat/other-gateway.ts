import { setTimeout as delay } from 'node:timers/promises';
import { sendTo } from '../send-to.ts';
import { noResponse, type TestRequest, type TestResponse } from '../test.ts';

/** Maximum size of a response, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Time between two attempts to reach a gateway that starts, in milliseconds. */
const RETRY_MS = 100;

/** Number of consecutive requests without a response after which the comparison ends. */
const MAX_FAILURES = 5;

/** Thrown if the other gateway does not respond, or its responses are not valid HTTP. */
export class OtherGatewayError extends Error {}

/** The gateway to compare with, reached over HTTP. */
export class OtherGateway {
  readonly #address: URL;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  #failures = 0;

  /** @param signal ends all requests. */
  constructor(address: URL, timeoutMs: number, signal: AbortSignal) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /** Waits until the gateway responds to a request. @throws OtherGatewayError after the given time. */
  async start(waitMs: number): Promise<void> {
    const endsAt = performance.now() + waitMs;
    const probe = { method: 'GET', path: '/__health', headers: {}, body: null };
    for (;;) {
      const left = Math.max(RETRY_MS, Math.ceil(endsAt - performance.now()));
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(left)]);
      const failure = await sendTo(this.#address, probe, signal, MAX_BODY_BYTES).then(
        () => null,
        (error: Error) => error,
      );
      if (failure === null) return;
      this.#signal.throwIfAborted();
      if (performance.now() >= endsAt) {
        throw new OtherGatewayError(`${this.#address.origin} did not respond within ${waitMs} ms: ${failure.message}`);
      }
      await delay(RETRY_MS, undefined, { signal: this.#signal });
    }
  }

  /**
   * Sends a request. A response that does not arrive as a whole, or that is not HTTP, has status 0.
   * @throws OtherGatewayError after several such requests in a row, except for responses that the gateway interrupts.
   */
  async send(request: TestRequest): Promise<TestResponse> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      const response = await sendTo(this.#address, request, signal, MAX_BODY_BYTES);
      this.#failures = 0;
      return response;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (isInterrupted(error)) return noResponse;
      this.#failures++;
      if (this.#failures < MAX_FAILURES) return noResponse;
      const reason = `${this.#failures} requests in a row had no valid response: ${(error as Error).message}`;
      throw new OtherGatewayError(`${this.#address.origin}: ${reason}`);
    }
  }
}

/** True for a connection that was closed within a response, as gateways do if a stream of a backend is not valid. */
function isInterrupted(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && message === 'aborted';
}
