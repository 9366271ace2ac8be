import type { Operations } from '#kernel';
import { rememberingSinks, startGateway } from './gateway.ts';
import { PluginFolder } from './plugin-folder.ts';

/** A gateway with the plugins of one folder, to which tests write handlers as authors do. */
export class IsolatedStage {
  readonly folder = new PluginFolder();
  readonly sinks = rememberingSinks();
  readonly #host: string;
  gateway!: Operations;

  /** @param host host of every backend. */
  constructor(host: string) {
    this.#host = host;
  }

  /** Writes a file with isolated modules. @param elements the code between the braces of each, by name. */
  write(elements: Readonly<Record<string, string>>, file = 'team.js', head = ''): void {
    const code = Object.entries(elements).map(
      ([name, body]) => `{ name: '${name}', apiVersion: 1, isolate: true, ${body} }`,
    );
    this.folder.write(file, `${head}\nexport const plugin = [\n${code.join(',\n')}\n];\n`);
  }

  /**
   * @param endpoints fields by path, in addition to a backend `/b`. @param root additional root fields.
   */
  config(endpoints: Readonly<Record<string, object>>, root: { readonly plugin?: object } = {}): never {
    return {
      version: 3,
      host: [this.#host],
      ...root,
      plugin: { folder: this.folder.path, ...root.plugin },
      endpoints: Object.entries({ ...endpoints, '/free': {} }).map(([endpoint, more]) => ({
        endpoint,
        backend: [{ url_pattern: '/b' }],
        ...more,
      })),
    } as never;
  }

  async start(endpoints: Readonly<Record<string, object>>, root: object = {}, options: object = {}): Promise<void> {
    this.gateway = await startGateway(this.config(endpoints, root), { sinks: this.sinks, ...options } as never);
  }

  /** @returns status and body, decoded if it is JSON. */
  async ask(
    path: string,
    options: object = {},
  ): Promise<{ status: number; body: never; headers: Record<string, string> }> {
    const { statusCode, body, headers } = await this.gateway.inject({ url: path, ...options } as never);
    const isJson = body.startsWith('{') || body.startsWith('[');
    return { status: statusCode, body: (isJson ? JSON.parse(body) : body) as never, headers: headers as never };
  }

  /** Log lines that match. */
  lines(pattern: RegExp): string[] {
    return this.sinks.lines.filter((line) => pattern.test(line));
  }

  async close(): Promise<void> {
    await this.gateway?.close();
    this.folder.remove();
  }
}

/** Configuration of an endpoint that uses a handler. */
export const named = (namespace: string, name: string | readonly string[], more: object = {}): object => ({
  extra_config: { [`plugin/${namespace}`]: { name, ...more } },
});
