import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder to which tests write plugins; `remove` deletes it. */
export class PluginFolder {
  /** Absolute path of the folder, ending with a separator. */
  readonly path = `${realpathSync(mkdtempSync(join(tmpdir(), 'plugins-')))}/`;

  /** @returns the file's path. */
  write(name: string, source: string): string {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
    return file;
  }

  delete(name: string): void {
    rmSync(join(this.path, name));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The source of a plugin that sets the header `X-Team` on the responses of its endpoints. */
export function headerSource(value: string, name = 'acme/header'): string {
  return `import { after, atEndpoint, definePlugin, type Plugin } from 'sluice/plugin';

export const plugin: Plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Sets a header on the response.',
  places: [
    atEndpoint({ type: 'object', properties: { suffix: { type: 'string', description: 'Text.', default: '' } } }, ({ config }) => ({
      endpoint: after((reply) => reply.headers.set('X-Team', '${value}' + config.suffix)),
    })),
  ],
});
`;
}
