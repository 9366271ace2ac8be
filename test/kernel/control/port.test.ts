import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import type { Operations } from '#kernel';
import type { GatewayOptions } from '../../../kernel/sluice.ts';
import { freePort } from '../../support/conditions.ts';
import { openGateway, rememberingSinks } from '../../support/gateway.ts';

describe('the port of a gateway', () => {
  let gateway: Operations | null = null;
  const sinks = rememberingSinks();

  beforeEach(() => {
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
  });

  const config = (port: number, more: object = {}) => ({
    version: 3 as const,
    port,
    listen_ip: '127.0.0.1',
    endpoints: [],
    extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true } },
    ...more,
  });

  async function start(port: number, options: GatewayOptions = {}): Promise<number> {
    gateway = await openGateway(config(port), { sinks, ...options });
    return (await gateway.listen()).port;
  }

  const isOpen = (port: number): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/__health`).then(
      ({ status }) => status === 200,
      () => false,
    );

  describe('configured as 0', () => {
    it('is any free port', async () => {
      const port = await start(0);
      notEqual(port, 0);
      notEqual(port, 8080);
      equal(await isOpen(port), true);
    });

    it('is any free port on the command line, too', async () => {
      notEqual(await start(await freePort(), { port: 0 }), 0);
    });

    it('stays the same over other changes', async () => {
      const port = await start(0);
      const { rebound } = await gateway!.reload(config(0, { name: 'other' }));
      deepEqual([rebound, gateway!.processes.port], [[], port]);
      equal(await isOpen(port), true);
    });

    it('stays the same if it is then configured by number', async () => {
      const port = await start(0);
      deepEqual((await gateway!.reload(config(port))).rebound, []);
      deepEqual((await gateway!.reload(config(0))).rebound, []);
      equal(await isOpen(port), true);
    });

    it('is a new free port after a configured one', async () => {
      const first = await start(await freePort());
      const { rebound } = await gateway!.reload(config(0));
      const port = gateway!.processes.port!;
      notEqual(port, first);
      deepEqual(rebound, [`127.0.0.1:${port}`]);
      deepEqual([await isOpen(port), await isOpen(first)], [true, false]);
    });
  });

  it('is logged when it changes', async () => {
    await start(await freePort());
    const next = await freePort();
    await gateway!.reload(config(next));
    match(
      sinks.lines.find((line) => line.includes('now serving'))!,
      new RegExp(
        `INFO.*now serving revision 2 \\(\\w{12}\\), replacing 1: .*; now listening on 127\\.0\\.0\\.1:${next};`,
      ),
    );
  });

  it("that is in use stops the start, with the system's reason", async () => {
    const port = await start(0);
    const second = await openGateway(config(port), { sinks });
    const refused = await second.listen().then(
      () => '',
      (error: Error) => error.message,
    );
    await second.close();
    equal(refused, `cannot listen on 127.0.0.1:${port}: address already in use`);
  });
});
