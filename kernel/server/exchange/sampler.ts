import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { runUnowned } from '../../contract/internal.ts';
import { certificateOf } from '../port/client-certificate.ts';
import { socketAddress } from '../request/client-ip.ts';
import { captureResponse } from './capture-response.ts';
import type { Sample, Sampling, Skipped } from './sample.ts';

/** Maximum number of samples of a process that are being captured or wait for their receiver. */
const MAX_HELD = 64;

/** Maximum size of a captured body, in bytes. Longer bodies are not compared. */
const MAX_BODY_BYTES = 256 * 1024;

/** Longest time until counts of skipped requests are reported without a sample, in milliseconds. */
const REPORT_MS = 500;

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Copies a fraction of the safe requests and their responses, after each response has been sent. */
export class Sampler {
  readonly #sampling: Sampling;
  #held = 0;
  #skipped: { -readonly [K in keyof Skipped]: number } = noneSkipped();
  #report: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(sampling: Sampling) {
    this.#sampling = sampling;
  }

  /** Called for every request before it is handled. */
  see(message: IncomingMessage, response: ServerResponse, revision: number): void {
    if (!safe.has(message.method!) || Math.random() >= this.#sampling.rate) return;
    if (isUnsuitable(message)) return this.#skip('unsuitable');
    if (this.#held >= MAX_HELD) return this.#skip('busy');
    this.#held++;
    // Middleware can change the message.
    const request = requestOf(message);
    let isStream = false;
    const captured = captureResponse(response, MAX_BODY_BYTES, (contentType) => {
      isStream = /^text\/event-stream\b/i.test(contentType);
      if (isStream) captured.drop();
    });
    response.once('close', () => {
      const { response: sent } = captured;
      const isComplete = response.writableFinished && sent !== null;
      if (isComplete && !this.#isClosed) return this.#pass({ revision, request, response: sent });
      this.#held--;
      this.#skip(isStream ? 'unsuitable' : 'incomplete');
    });
  }

  /** Ends sampling; captures in progress are discarded. */
  close(): void {
    this.#isClosed = true;
    if (this.#report) clearTimeout(this.#report);
  }

  #pass(sample: Sample): void {
    const skipped = this.#takeSkipped();
    const settle = (): void => {
      this.#held--;
    };
    // The receiver must not run for the request, which has ended.
    runUnowned(() => this.#sampling.receive({ sample, skipped }).then(settle, settle));
  }

  #skip(reason: keyof Skipped): void {
    if (this.#isClosed) return;
    this.#skipped[reason]++;
    this.#report ??= runUnowned(() =>
      setTimeout(() => {
        this.#report = null;
        this.#sampling.receive({ sample: null, skipped: this.#takeSkipped() }).catch(() => {});
      }, REPORT_MS).unref(),
    );
  }

  #takeSkipped(): Skipped {
    const skipped = this.#skipped;
    this.#skipped = noneSkipped();
    if (this.#report) clearTimeout(this.#report);
    this.#report = null;
    return skipped;
  }
}

function noneSkipped(): { -readonly [K in keyof Skipped]: number } {
  return { busy: 0, incomplete: 0, unsuitable: 0 };
}

function isUnsuitable(message: IncomingMessage): boolean {
  const { headers } = message;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return hasBody || headers.upgrade !== undefined || certificateOf(message) !== null;
}

function requestOf(message: IncomingMessage): Sample['request'] {
  const { method, url, rawHeaders } = message;
  return {
    method: method!,
    url: url!,
    headers: [...rawHeaders],
    address: socketAddress(message),
    // A request whose connection was lost has no socket.
    isEncrypted: (message.socket as TLSSocket | null)?.encrypted === true,
  };
}
