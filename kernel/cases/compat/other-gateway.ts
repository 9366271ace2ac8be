import { setTimeout as delay } from 'node:timers/promises';
import { sendTo } from '../send-to.ts';
import { noResponse, type TestRequest, type TestResponse } from '../test.ts';

/** Maximum size of a response, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Time between two attempts to reach a gateway that starts, in milliseconds. */
const RETRY_MS = 100;

/** Number of consecutive requests without a response after which the comparison ends. */
const MAX_FAILURES = 5;

/** A request that every gateway responds to. */
const probe: TestRequest = { method: 'GET', path: '/__health', headers: {}, body: null };

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
   * @throws OtherGatewayError after several such requests in a row, unless the gateway responds to another request.
   */
  async send(request: TestRequest): Promise<TestResponse> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      const response = await sendTo(this.#address, request, signal, MAX_BODY_BYTES);
      this.#failures = 0;
      return response;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#failures++;
      if (this.#failures < MAX_FAILURES || (await this.#isAlive())) return noResponse;
      const reason = `${this.#failures} requests in a row had no valid response: ${(error as Error).message}`;
      throw new OtherGatewayError(`${this.#address.origin}: ${reason}`);
    }
  }

  /** Distinguishes a gateway that has ended from one that interrupts responses, such as streams. */
  async #isAlive(): Promise<boolean> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      await sendTo(this.#address, probe, signal, MAX_BODY_BYTES);
      this.#failures = 0;
      return true;
    } catch {
      this.#signal.throwIfAborted();
      return false;
    }
  }
}
