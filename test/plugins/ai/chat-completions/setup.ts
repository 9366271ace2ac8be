import OpenAI from 'openai';
import type { Operations } from '#kernel';
import {
  type Answering,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { models } from '../../../support/models.ts';
import { modelBackend } from '../llm/fixture.ts';

/** Configuration in addition to one model of every vendor, named like the vendor. */
export interface Written {
  /** Settings of the model backends. */
  readonly settings?: object;
  readonly endpoint?: object;
  readonly models?: readonly object[];
  readonly root?: object;
}

export function configOf(host: string, { settings, endpoint, models: more = [], root = {} }: Written = {}): object {
  const { extra_config: components, ...fields } = root as { extra_config?: object };
  const declared = models.map(([vendor]) => ({ name: vendor, backend: [modelBackend(host, vendor, settings)] }));
  const { extra_config: around, ...rest } = (endpoint ?? {}) as { extra_config?: object };
  return {
    version: 3,
    ...fields,
    extra_config: {
      'telemetry/logging': { level: 'DEBUG', stdout: true },
      'ai/chat-completions': { models: [...declared, ...more] },
      ...components,
    },
    endpoints: [
      {
        endpoint: '/v1/chat/completions',
        method: 'POST',
        timeout: '5s',
        ...rest,
        extra_config: { 'ai/chat-completions': {}, ...around },
      },
      { endpoint: '/v1/models', extra_config: { 'ai/chat-completions': {} } },
      { endpoint: '/v1/models/{model}', extra_config: { 'ai/chat-completions': {} } },
    ],
  };
}

/** A gateway in front of one fake vendor, and the official client pointed at it. */
export class ChatTestbed {
  readonly backend: TestBackend;
  gateway!: Operations;
  client!: OpenAI;
  port = 0;
  lines: readonly string[] = [];

  private constructor(backend: TestBackend) {
    this.backend = backend;
  }

  static async open(respond: Answering): Promise<ChatTestbed> {
    return new ChatTestbed(await startBackend(respond));
  }

  async serve(written: Written = {}): Promise<OpenAI> {
    await this.closeGateway();
    const sinks = rememberingSinks();
    this.lines = sinks.lines;
    this.gateway = await startGateway(configOf(this.backend.url, written), { sinks });
    this.port = (await this.gateway.listen()).port;
    this.client = new OpenAI({ baseURL: `http://127.0.0.1:${this.port}/v1`, apiKey: 'of-the-client', maxRetries: 0 });
    return this.client;
  }

  /** The last request body that the vendor received. */
  received() {
    return JSON.parse(String(this.backend.requests.at(-1)!.body));
  }

  async closeGateway(): Promise<void> {
    await this.gateway?.close();
  }

  async close(): Promise<void> {
    await this.closeGateway();
    await this.backend.close();
  }
}

/** Fixtures shared by the tests of a suite. */
export interface ChatSuite {
  readonly testbed: ChatTestbed;
  readonly client: OpenAI;
  /** Response of the fake vendor. */
  respond: Answering;
}

/** Opens a testbed with its default configuration for the calling suite, and closes it afterwards. */
export function useChatTestbed(): ChatSuite {
  let testbed: ChatTestbed;
  const suite = {
    respond: (() => {}) as Answering,
    get testbed() {
      return testbed;
    },
    get client() {
      return testbed.client;
    },
  };
  before(async () => {
    testbed = await ChatTestbed.open((seen, response) => suite.respond(seen, response));
    await testbed.serve();
  });
  after(() => testbed.close());
  return suite;
}
