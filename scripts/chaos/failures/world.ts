import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/** Servers that the gateway of a campaign connects to. They always work: only the gateway's own system fails. */
export interface World {
  readonly backend: string;
  /** Ports of collectors that accept everything. */
  readonly collector: number;
  readonly influx: string;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const backend = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const isKeys = request.url === '/keys';
      const body = JSON.stringify(isKeys ? { keys: [] } : { ok: true, access_token: 't', token_type: 'bearer' });
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
      response.writeHead(200, { ...headers, ...(request.url === '/cached' && { 'Cache-Control': 'max-age=1' }) });
      response.end(body);
    });
    request.on('error', () => {});
  });
  const influx = createServer((request, response) => {
    request.on('error', () => {}).resume();
    request.on('end', () => response.writeHead(204).end());
  });
  const collector = createTcpServer((socket) => socket.on('error', () => {}).resume());
  const open = async (server: Server | typeof collector): Promise<number> => {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return (server.address() as AddressInfo).port;
  };
  const [port, influxPort, collectorPort] = await Promise.all([open(backend), open(influx), open(collector)]);
  return {
    backend: `http://127.0.0.1:${port}`,
    collector: collectorPort,
    influx: `http://127.0.0.1:${influxPort}`,
    async close() {
      backend.closeAllConnections();
      influx.closeAllConnections();
      await Promise.all([backend, influx, collector].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
