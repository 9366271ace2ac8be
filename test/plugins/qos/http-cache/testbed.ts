import { mock } from 'node:test';
import { Call, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/http-cache/index.ts';
import { pipeRequest, type Sent, textOf } from '../../backend/http-client.ts';

/** A backend response, with its headers as lines of text. */
export interface Given {
  readonly status?: number;
  readonly headers?: string;
  readonly body?: Reply['body'] | string;
}

/** A cache in front of a backend controlled by the test, with a fixed date. */
export class Bench {
  readonly requests: PipeRequest[] = [];
  given: Given | ((request: PipeRequest, call: Call) => Given | Reply | Promise<Given | Reply>) = {};
  readonly #testbeds: Harness[] = [];
  #send: Step<PipeRequest> | null = null;

  /** @param config of the cache. */
  async open(config: unknown = {}, around: HarnessOptions = {}): Promise<Harness> {
    const testbed = await openHarness(plugin, 'backend', config, around);
    this.#testbeds.push(testbed);
    if (testbed.attached.transport) this.use(testbed);
    return testbed;
  }

  /** Sends later requests through another testbed's current cache. */
  use(testbed: Harness): void {
    this.#send = this.through(testbed);
  }

  /** The cache, in front of the backend. */
  through(testbed: Harness): Step<PipeRequest> {
    return testbed.attached.transport!(async (request, call) => {
      this.requests.push(Object.assign(request.copy(), { headers: request.headers.copy() }));
      const { given } = this;
      const response = typeof given === 'function' ? await given(request, call) : given;
      return response instanceof Reply ? response : replyWith(response);
    });
  }

  /**
   * Requests `/x`.
   * @returns status, text and `Age` of the response.
   */
  async ask(headers = '', sent: Partial<Sent> = {}, call = new Call()): Promise<Requested> {
    const reply = await this.send(headers, sent, call);
    const text = reply.failed ? reply.errors[0]!.code : await textOf(reply);
    return { status: reply.status, text, age: reply.headers.get('age'), reply };
  }

  async send(headers = '', sent: Partial<Sent> = {}, call = new Call()): Promise<Reply> {
    const request = pipeRequest({ origin: 'http://h1', target: '/x', ...sent, headers: lines(headers) });
    return this.#send!(request, call);
  }

  get calls(): number {
    return this.requests.length;
  }

  /** A header of the last backend request. */
  saw(name: string): string | undefined {
    return this.requests.at(-1)!.headers.get(name);
  }

  async close(): Promise<{ kept: number; deferred: number }[]> {
    const left = [];
    for (const testbed of this.#testbeds.splice(0).reverse()) left.push(await testbed.close());
    return left;
  }
}

interface Requested {
  readonly status: number;
  readonly text: string;
  readonly age: string | undefined;
  readonly reply: Reply;
}

export function replyWith({ status = 200, headers = '', body = 'body' }: Given): Reply {
  return Reply.raw(status, new HeaderBag(lines(headers)), typeof body === 'string' ? Buffer.from(body) : body);
}

/** `A: 1 / B: 2` as a flat header list. */
function lines(text: string): string[] {
  if (text === '') return [];
  return text.split(' / ').flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}

/** Mocks the time of day. */
export function holdTime(): void {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') });
}

export function pass(seconds: number): void {
  mock.timers.setTime(Date.now() + seconds * 1000);
}

/** The current time plus the given seconds, as an HTTP date. */
export function dateIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}
