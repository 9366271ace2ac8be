import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export interface MoesifEvent {
  readonly direction: string;
  readonly user_id?: string;
  readonly company_id?: string;
  readonly metadata?: object;
  readonly request: { readonly verb: string; readonly uri: string; readonly [name: string]: unknown };
  readonly response: { readonly status: number; readonly [name: string]: unknown };
}

/** A fake Moesif collector that records events and responds with the given status. */
export async function startCollector() {
  const events: MoesifEvent[] = [];
  const pushes: { headers: IncomingHttpHeaders; url: string; count: number }[] = [];
  const state = {
    status: 201,
    respond: (response: ServerResponse): unknown => response.writeHead(state.status).end(),
  };
  const server = createServer(async (request, response) => {
    const batch = JSON.parse(gunzipSync(await buffer(request)).toString()) as MoesifEvent[];
    pushes.push({ headers: request.headers, url: request.url!, count: batch.length });
    if (state.status < 300) events.push(...batch);
    state.respond(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    pushes,
    state,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
