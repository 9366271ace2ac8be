import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import {
  type Answering,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { type ModelFixture, models } from '../../../support/models.ts';

/** The fixture of a vendor, with its version. */
export function modelOf(vendor: string): { version: string; fixture: ModelFixture } {
  const [, version, fixture] = models.find(([name]) => name === vendor)!;
  return { version, fixture };
}

/**
 * A backend with a model of a vendor.
 * @param settings in addition to the credentials and variables of the fixture.
 */
export function modelBackend(host: string, vendor: string, settings: object = {}, more: object = {}): object {
  const { version, fixture } = modelOf(vendor);
  const { extra_config: beside, ...fields } = more as { extra_config?: object };
  const whole = { credentials: 'k', variables: fixture.variables, ...settings };
  return {
    host: [host],
    method: 'POST',
    url_pattern: fixture.url_pattern,
    ...fields,
    extra_config: { 'ai/llm': { [vendor]: { [version]: whole } }, ...beside },
  };
}

/** Gateways in front of one vendor. */
export class ModelTestbed {
  readonly backend: TestBackend;
  #gateways: Operations[] = [];
  lines: readonly string[] = [];

  private constructor(backend: TestBackend) {
    this.backend = backend;
  }

  static async open(respond: Answering): Promise<ModelTestbed> {
    return new ModelTestbed(await startBackend(respond));
  }

  /** @param vendor name of the vendor, or the backends themselves. */
  async serve(
    vendor: string | object[],
    settings: object = {},
    endpoint: object = {},
    more: object = {},
    root: object = {},
  ): Promise<Operations> {
    const sinks = rememberingSinks();
    this.lines = sinks.lines;
    const backend = typeof vendor === 'string' ? [modelBackend(this.backend.url, vendor, settings, more)] : vendor;
    const { extra_config: components, ...fields } = root as { extra_config?: object };
    const gateway = await startGateway(
      {
        ...fields,
        extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true }, ...components },
        endpoints: [{ endpoint: '/ask', method: 'POST', timeout: '5s', ...endpoint, backend }],
      },
      { sinks },
    );
    this.#gateways.push(gateway);
    return gateway;
  }

  /** Errors of a configuration: code and pointer below the component. */
  async issues(...given: Parameters<ModelTestbed['serve']>): Promise<readonly string[]> {
    try {
      await this.serve(...given);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors.map(({ code, pointer }) => `${code} ${pointer.replace(/^.*ai~1llm/, '')}`);
    }
    return [];
  }

  async closeGateways(): Promise<void> {
    for (const gateway of this.#gateways.splice(0)) await gateway.close();
  }

  async close(): Promise<void> {
    await this.closeGateways();
    await this.backend.close();
  }
}

/** Sends a prompt like a client. */
export function ask(gateway: Operations, body: unknown = { contents: 'hi' }, headers: Record<string, string> = {}) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  return gateway.inject({
    method: 'POST',
    url: '/ask',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });
}
