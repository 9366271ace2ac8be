import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import {
  type Answering,
  json,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { modelOf } from '../llm/fixture.ts';

type Counts = Readonly<Record<'a' | 'b' | 'c', number>>;

/** Providers by name, each with a server of its own. The ones named `a` and `c` are of OpenAI, `b` is of Anthropic. */
export class RouterTestbed {
  readonly servers: Record<'a' | 'b' | 'c', TestBackend>;
  readonly respond: Record<'a' | 'b' | 'c', Answering>;
  #gateways: Operations[] = [];
  #counted: Counts = { a: 0, b: 0, c: 0 };
  lines: readonly string[] = [];

  private constructor(servers: RouterTestbed['servers'], respond: RouterTestbed['respond']) {
    this.servers = servers;
    this.respond = respond;
  }

  static async open(): Promise<RouterTestbed> {
    const respond = { a: answers.openai, b: answers.anthropic, c: answers.openai };
    const start = (name: 'a' | 'b' | 'c') => startBackend((seen, response) => respond[name](seen, response));
    const [a, b, c] = await Promise.all([start('a'), start('b'), start('c')]);
    return new RouterTestbed({ a, b, c }, respond);
  }

  /** Resets the testbed: all providers answer, and the counts of requests are 0. */
  reset(): void {
    Object.assign(this.respond, { a: answers.openai, b: answers.anthropic, c: answers.openai });
    this.#counted = this.#totals;
  }

  /** Number of requests to each provider since the last reset. */
  get counts(): Counts {
    const { a, b, c } = this.#totals;
    return { a: a - this.#counted.a, b: b - this.#counted.b, c: c - this.#counted.c };
  }

  get #totals(): Counts {
    const { a, b, c } = this.servers;
    return { a: a.requests.length, b: b.requests.length, c: c.requests.length };
  }

  providers(prices: Record<string, number> = {}): object[] {
    return (['a', 'b', 'c'] as const).map((name) => ({
      name,
      provider: name === 'b' ? 'anthropic' : 'openai',
      model: `model-${name}`,
      credentials: 'k',
      endpoint: this.servers[name].url,
      ...(prices[name] !== undefined && { price: { input: prices[name], output: prices[name] } }),
    }));
  }

  configOf(router: object, endpoint: object = {}, root: object = {}, prices?: Record<string, number>): object {
    const { extra_config: around, ...fields } = endpoint as { extra_config?: object };
    return {
      version: 3,
      extra_config: {
        'telemetry/logging': { level: 'DEBUG', stdout: true },
        'ai/providers': { providers: this.providers(prices) },
        ...root,
      },
      endpoints: [
        {
          endpoint: '/ask',
          method: 'POST',
          timeout: '5s',
          input_headers: ['X-Plan'],
          ...fields,
          ...(around && { extra_config: around }),
          backend: [{ extra_config: { 'ai/router': router } }],
        },
      ],
    };
  }

  /** The OpenAI-compatible API over one model, which a router serves. */
  chatConfigOf(router: object): object {
    const models = [{ name: 'gateway-model', backend: [{ extra_config: { 'ai/router': router } }] }];
    return {
      version: 3,
      extra_config: {
        'telemetry/logging': { level: 'DEBUG', stdout: true },
        'ai/providers': { providers: this.providers() },
        'ai/chat-completions': { models },
      },
      endpoints: [{ endpoint: '/ask', method: 'POST', timeout: '5s', extra_config: { 'ai/chat-completions': {} } }],
    };
  }

  serve(...given: Parameters<RouterTestbed['configOf']>): Promise<Operations> {
    return this.start(this.configOf(...given));
  }

  async start(config: object): Promise<Operations> {
    const sinks = rememberingSinks();
    this.lines = sinks.lines;
    const gateway = await startGateway(config as never, { sinks });
    this.#gateways.push(gateway);
    return gateway;
  }

  /** Errors of a configuration: code and pointer below the component. */
  async issues(...given: Parameters<RouterTestbed['configOf']>): Promise<readonly string[]> {
    try {
      await this.serve(...given);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors.map(({ code, pointer }) => `${code} ${pointer.replace(/^.*ai~1router/, '')}`);
    }
    return [];
  }

  async closeGateways(): Promise<void> {
    for (const gateway of this.#gateways.splice(0)) await gateway.close();
  }

  async close(): Promise<void> {
    await this.closeGateways();
    for (const server of Object.values(this.servers)) await server.close();
  }
}

export const answers = {
  openai: json(modelOf('openai').fixture.answer),
  anthropic: json(modelOf('anthropic').fixture.answer),
};

/** A provider that responds with an error. */
export function failing(status: number, headers: Record<string, string> = {}): Answering {
  return (_seen, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end('{"error":{"code":"x"}}');
  };
}
