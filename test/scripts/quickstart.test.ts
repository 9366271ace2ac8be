import { deepEqual, equal, notEqual, rejects } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentSinks } from '../../kernel/testing/index.ts';
import { freePort } from '../../scripts/free-port.ts';
import { type Quickstart, serveQuickstart } from '../../scripts/quickstart/serve.ts';
import { until } from '../support/conditions.ts';

describe('npm start', () => {
  let folder: string;
  let file: string;
  let text: string;
  let port: number;
  let upstreamPort: number;
  let served: Quickstart | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quickstart-'));
    file = join(folder, 'gateway.json');
    [port, upstreamPort] = [await freePort(), await freePort()];
    text = readFileSync('samples/quickstart/gateway.json', 'utf8')
      .replace('8080', String(port))
      .replace('8081', String(upstreamPort));
    writeFileSync(file, text);
  });

  afterEach(async () => {
    await served?.close();
    served = undefined;
    rmSync(folder, { recursive: true });
  });

  const serve = async () => {
    served = await serveQuickstart(file, { sinks: silentSinks });
    return served;
  };
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${served?.port}${path}`)).status;

  async function occupy(taken: number, during: () => Promise<void>): Promise<void> {
    const server = createServer().listen(taken);
    try {
      await during();
    } finally {
      server.close();
    }
  }

  it('serves a saved change of its configuration', async () => {
    deepEqual([(await serve()).port, served?.taken], [port, null]);
    equal(await statusOf('/raw/1'), 200);
    writeFileSync(file, text.replace('"/raw/{user}"', '"/plain/{user}"'));
    await until(async () => (await statusOf('/plain/1')) === 200);
  });

  it('uses another port if the configured one is taken', () =>
    occupy(port, async () => {
      await serve();
      equal(served?.taken, port);
      notEqual(served?.port, port);
      equal(await statusOf('/home/1'), 200);
    }));

  it('reports the port of the upstream if that is in use', () =>
    occupy(upstreamPort, async () => {
      await rejects(serve(), new RegExp(`^Error: port ${upstreamPort} is in use, and .*gateway.json expects`));
    }));
});
