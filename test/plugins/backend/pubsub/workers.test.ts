import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { freePort, until } from '../../../support/conditions.ts';
import { INSTALLATION_MS } from '../../../support/debian.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { startNats, type TestNats, withoutNats } from '../../../support/nats.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { take } from './nats-endpoints.ts';

const program = bundledProgram();
const MESSAGES = 60;

(withoutNats ? describe.skip : describe)(`NATS behind workers${withoutNats ? `: ${withoutNats}` : ''}`, function () {
  this.timeout(INSTALLATION_MS);
  let server: TestNats;
  let monitor: number;
  let gateway: Operations | undefined;
  let restore: () => void;

  before(async () => {
    monitor = await freePort();
    server = await startNats(['-m', String(monitor)]);
    restore = setEnvironment({ NATS_SERVER_URL: server.address });
  });
  afterEach(() => gateway?.close());
  after(async () => {
    restore();
    await server.close();
  });

  const subscribers = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${monitor}/subsz?subs=1`);
    const { subscriptions_list: all = [] } = (await response.json()) as { subscriptions_list?: { subject: string }[] };
    return all.filter(({ subject }) => subject === 'work').length;
  };
  const config = (...more: object[]) => ({
    version: 3,
    port: 0,
    endpoints: [take('work?queue=g', { timeout: '300ms' }), ...more],
  });

  it('delivers each message to a single worker, and continues across a reload', async () => {
    gateway = await startGateway(config(), {
      sinks: rememberingSinks(),
      workers: { count: 2, program, args: [] },
    });
    const { port } = await gateway.listen();
    await until(async () => (await subscribers()) === 2);
    const client = await server.connect();
    const taken: number[] = [];
    const ask = async (): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${port}/take/work-queue-g`, { headers: { Connection: 'close' } });
      if (response.status === 200) taken.push(((await response.json()) as { id: number }).id);
    };
    const takeAll = async (count: number): Promise<void> => {
      while (taken.length < count) await Promise.all(Array.from({ length: 8 }, ask));
    };
    const publish = (from: number): void => {
      for (let id = from; id < from + MESSAGES; id++) client.publish('work', JSON.stringify({ id }));
    };
    publish(0);
    await takeAll(MESSAGES / 2);
    const added = { endpoint: '/other', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };
    await gateway.reload(config(added) as never);
    equal(await subscribers(), 2);
    publish(MESSAGES);
    await takeAll(2 * MESSAGES);
    deepEqual(
      taken.sort((a, b) => a - b),
      Array.from({ length: 2 * MESSAGES }, (_, id) => id),
    );
  });
});
