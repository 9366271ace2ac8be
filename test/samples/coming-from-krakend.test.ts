import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

const home = process.cwd();
const guide = readFileSync('samples/coming-from-krakend/README.md', 'utf8');
const blocks = Array.from(
  guide.matchAll(/^```(json|ts|sh|text) ?(\S*)\n([\s\S]*?)^```$/gm),
  ([, kind, file, text]) => ({
    kind: kind!,
    file: file!,
    text: text!,
  }),
);

describe('the guide for users of KrakenD', () => {
  let folder: string;
  let backend: TestBackend;
  let gateway: Operations | null = null;

  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'coming-')));
    for (const { file, text } of blocks) {
      if (file === '') continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    backend = await startBackend(json({ id: 1 }));
  });
  beforeEach(() => process.chdir(folder));
  afterEach(async () => {
    process.chdir(home);
    await gateway?.close();
    gateway = null;
  });
  after(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });

  async function serve(file: string): Promise<Operations> {
    const config = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
    return gateway;
  }

  it('shows the output that its commands print', async () => {
    const commands = blocks.flatMap(({ kind, text }, at) => (kind === 'sh' ? [[text, blocks[at + 1]!] as const] : []));
    for (const [command, { kind, text }] of commands) {
      const [program, ...args] = command.trim().split(' ');
      deepEqual([program, kind], ['sluice', 'text']);
      const { out, err } = await sluice(...args);
      for (const line of text.trim().split('\n')) ok(`${out}${err}`.includes(line), `${command}${line}\n${out}${err}`);
    }
    equal(commands.length, 6);
  });

  it('ports a KrakenD module that sets a header', async () => {
    const { statusCode, headers } = await (await serve('ported.json')).inject('/users/1');
    deepEqual([statusCode, headers['x-team']], [200, 'payments']);
    const { out } = await sluice('plugin', 'check', 'plugins');
    ok(out.includes('OK'), out);
  });

  it("contains the settings for headers and methods like KrakenD's", async () => {
    const compatible = await serve('compatible.json');
    const { headers } = await compatible.inject('/users/1');
    deepEqual([headers['x-krakend-completed'], headers['x-gateway-completed']], ['true', undefined]);
    ok(String(headers['x-krakend']).startsWith('Version '));
    ok(String(backend.requests.at(-1)!.headers['user-agent']).startsWith('KrakenD Version '));
    equal((await compatible.inject({ method: 'HEAD', url: '/users/1' })).statusCode, 405);
    await compatible.close();
    const plain = await serve('ported.json');
    equal((await plain.inject({ method: 'HEAD', url: '/users/1' })).statusCode, 200);
  });

  it('shows which settings are rejected', async () => {
    const fails = async (config: object) => {
      writeFileSync('refused.json', JSON.stringify(config));
      const { code, out, err } = await sluice('check', 'refused.json');
      return [code, `${out}${err}`] as const;
    };
    const [code, message] = await fails({ version: 5, endpoints: [] });
    ok(code === 1 && message.includes('set "version": 4'), message);
    const [unknown, reason] = await fails({ version: 3, endpoints: [], made_up: 1 });
    ok(unknown === 1 && reason.includes("unknown key 'made_up'"), reason);
    mkdirSync('compiled');
    writeFileSync('compiled/a.so', '');
    const [, warning] = await fails({ version: 3, endpoints: [], plugin: { folder: './compiled/', pattern: '.so' } });
    ok(warning.includes('compiled plugins of another product cannot be loaded'), warning);
  });
});
