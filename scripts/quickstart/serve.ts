import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createGateway, type GatewayOptions } from '../../kernel/sluice.ts';
import { createUpstream } from '../../samples/quickstart/upstream.ts';

/** The sample gateway and its upstream, both running. */
export interface Quickstart {
  /** Port of the gateway. */
  readonly port: number;
  /** Configured port, if another program uses it and `port` is a different one; otherwise null. */
  readonly taken: number | null;
  close(): Promise<void>;
}

/**
 * Serves a configuration, watches its file, and serves the upstream on the port of the file's first host.
 * @throws Error when another program uses the upstream's port: it is set in the file and cannot be replaced.
 */
export async function serveQuickstart(file: string, options: GatewayOptions = {}): Promise<Quickstart> {
  const { host, port: wanted } = JSON.parse(readFileSync(file, 'utf8'));
  const { port: upstreamPort } = new URL(host[0]);
  const upstream = createUpstream();
  if (!(await listens(upstream, Number(upstreamPort), '127.0.0.1'))) {
    throw new Error(
      `port ${upstreamPort} is in use, and ${file} expects the sample's upstream there: ` +
        'end the other program (a second npm start?), or write another port into "host"',
    );
  }
  const closeUpstream = () => {
    upstream.close();
    upstream.closeAllConnections();
  };
  try {
    const isFree = await canListen(wanted);
    const gateway = await createGateway(file, { log: true, ...options, port: isFree ? wanted : 0 });
    const { port } = await gateway.listen();
    await gateway.watch();
    return { port, taken: isFree ? null : wanted, close: () => gateway.close().finally(closeUpstream) };
  } catch (error) {
    closeUpstream();
    throw error;
  }
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  if (!(await listens(server, port))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** @returns false if another program uses the port. */
function listens(server: Server, port: number, host?: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, host, () => resolve(true));
  });
}
