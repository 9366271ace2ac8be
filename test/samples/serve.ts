import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../../kernel/index.ts';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { startGateway } from '../support/gateway.ts';

/**
 * A sample, served with the upstream of the quickstart. @param name folder under `samples/`, or a file in one. @param change changes its text, such as a port. @param start Default: as the command does.
 */
export async function serveSample(
  name: string,
  change: (text: string) => string = (text) => text,
  start: (config: object) => Promise<Gateway> = startGateway,
): Promise<{ gateway: Gateway; close(): Promise<void> }> {
  const upstream = createUpstream().listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const config = JSON.parse(
    change(readFileSync(`samples/${name.endsWith('.json') ? name : `${name}/gateway.json`}`, 'utf8')),
  );
  const gateway = await start({ ...config, host: [`http://127.0.0.1:${port}`] });
  return {
    gateway,
    async close() {
      await gateway.close();
      upstream.close();
      await once(upstream, 'close');
    },
  };
}
