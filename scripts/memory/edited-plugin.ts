import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';

/** A gateway under load, with a plugin that is edited repeatedly. */
export interface EditedPlugin {
  /** Saves new content; resolves when the gateway serves with it. Every tenth content is preceded by a broken one. */
  edit(): Promise<void>;
  /** Stops the load. @returns the responses that its clients received so far. */
  close(): Promise<{ readonly answered: number; readonly failed: number }>;
}

const CLIENTS = 8;

/** Two files, the second as large as that of a real plugin; their content differs completely from earlier ones. */
function sources(edit: number): { plugin: string; table: string } {
  const rows = Array.from(
    { length: 200 },
    (_, row) => `  'key-${edit}-${row}': (value: number) => value + ${row * edit},`,
  );
  return {
    table: `export const table: Record<string, (value: number) => number> = {\n${rows.join('\n')}\n};\n`,
    plugin: `import { after, atEndpoint, definePlugin } from 'sluice/plugin';
import { table } from './lib/table.ts';

export const plugin = definePlugin({
  name: 'acme/edited',
  contract: 1,
  description: 'Tells which edit it is.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, ({ keep }) => {
      const count = keep('count', () => ({ of: 0, rows: Object.keys(table) }));
      return { endpoint: after((reply) => { count.of++; reply.headers.set('X-Edit', '${edit}'); }) };
    }),
  ],
});
`,
  };
}

export async function openEditedPlugin(): Promise<EditedPlugin> {
  const folder = mkdtempSync(join(tmpdir(), 'edited-'));
  const backend = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id":1}');
  });
  await listening(backend);
  const write = (edit: number) => {
    const { plugin, table } = sources(edit);
    writeFileSync(join(folder, 'lib/table.ts'), table);
    writeFileSync(join(folder, 'edited.ts'), plugin);
  };
  mkdirSync(join(folder, 'lib'));
  write(0);
  const host = [`http://127.0.0.1:${(backend.address() as AddressInfo).port}`];
  const endpoints = [{ endpoint: '/', extra_config: { 'acme/edited': {} }, backend: [{ url_pattern: '/' }] }];
  const document = {
    version: 3,
    port: 0,
    listen_ip: '127.0.0.1',
    host,
    endpoints,
    plugin: { folder: `${folder}/` },
  } as const;
  const gateway = await createGateway(document, { sinks: silentSinks });
  const { port } = await gateway.listen();
  let running = true;
  let answered = 0;
  let failed = 0;
  const client = async (): Promise<void> => {
    while (running) {
      const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
      await response?.arrayBuffer();
      if (response?.status === 200 && response.headers.has('x-edit')) answered++;
      else failed++;
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  let edits = 0;
  return {
    async edit() {
      edits++;
      if (edits % 10 === 0) {
        writeFileSync(join(folder, 'edited.ts'), 'const a = ;');
        await gateway.reload().then(
          () => Promise.reject(new Error('a broken plugin was applied')),
          () => {},
        );
      }
      write(edits);
      await gateway.reload();
      const response = await fetch(`http://127.0.0.1:${port}/`);
      await response.arrayBuffer();
      if (response.headers.get('x-edit') !== String(edits)) throw new Error(`edit ${edits} does not serve`);
    },
    async close() {
      running = false;
      await Promise.all(clients);
      await gateway.close();
      backend.closeAllConnections();
      backend.close();
      rmSync(folder, { recursive: true });
      return { answered, failed };
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}
