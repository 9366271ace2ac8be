import { Capture, captureReply, type HeaderBag, type Reply, type RequestBody } from '#contract';

/** Request as it was sent. */
interface Sent {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: HeaderBag;
  readonly body: RequestBody | null;
}

/** A request and its response while they pass: of the client, or of a backend. */
export class Exchange {
  readonly startedAt = Date.now();
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: HeaderBag;
  readonly requestBody: Capture;
  /** Length of the request body, if it was announced; 0 without a body. */
  readonly requestLength: number | undefined;
  readonly responseBody: Capture;
  /** Null until the response has arrived; 0 for a failed call. */
  status: number | null = null;
  responseHeaders: HeaderBag | null = null;
  /** Content coding of the response body as captured. */
  coding: string | undefined;
  timeMs = 0;
  readonly #beganMs = performance.now();

  constructor({ method, url, headers, body }: Sent, maxBody: number) {
    this.method = method;
    this.url = url;
    this.requestHeaders = headers.copy();
    this.requestBody = new Capture(maxBody);
    this.responseBody = new Capture(maxBody);
    this.requestLength = body ? body.length : 0;
    body?.tap(this.requestBody.add);
  }

  /** Notes a response, whose body is captured as its reader receives it. */
  responded(reply: Reply): Reply {
    this.timeMs = performance.now() - this.#beganMs;
    this.status = reply.body === null && reply.failed ? 0 : reply.status;
    this.responseHeaders ??= reply.headers.copy();
    this.coding = reply.headers.get('content-encoding');
    // Failures are skipped: the body of an error response is written later, and a failed call has no body.
    if (reply.data === null && !reply.failed) captureReply(reply, this.responseBody);
    return reply;
  }
}
