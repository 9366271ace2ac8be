import { deepEqual, equal } from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Call } from '#contract';
import { Bench, bodyOf, errorOf, pipeRequest, send, streamBody, textOf } from './http-client.ts';

describe('backend/http/client and redirects', () => {
  const bench = new Bench();
  afterEach(() => bench.close());

  let seen: { method: string; url: string; body: string; headers: IncomingMessage['headers'] }[] = [];
  beforeEach(() => {
    seen = [];
  });

  /** A server that answers `/a` with a redirect and everything else with its own path. */
  async function redirecting(status: number, location: string | undefined): Promise<string> {
    return bench.serve(async (request, response) => {
      seen.push({ method: request.method!, url: request.url!, body: await bodyOf(request), headers: request.headers });
      if (request.url!.startsWith('/a')) redirect(response, status, location);
      else response.end(`at ${request.url}`);
    });
  }

  function redirect(response: ServerResponse, status: number, location: string | undefined): void {
    response.writeHead(status, location === undefined ? {} : { Location: location }).end('moved');
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`follows ${status} and reports the original URL`, async () => {
      const origin = await redirecting(status, '/b?c=1');
      const reply = await send(await bench.client(), { origin, target: '/a?x=1' });
      equal(await textOf(reply), 'at /b?c=1');
      equal(seen[1]!.headers.referer, `${origin}/a?x=1`);
    });
  }

  it('reports the final URL to logs and telemetry', async () => {
    const origin = await redirecting(302, '/b');
    const gate = await bench.client();
    const request = pipeRequest({ origin, target: '/a' });
    await gate.attached.protocol!.call(request, new Call());
    equal(request.origin + request.target, `${origin}/b`);
  });

  it('resolves a relative Location against the current URL', async () => {
    const origin = await redirecting(302, '../c');
    equal(await textOf(await send(await bench.client(), { origin, target: '/a/b' })), 'at /c');
  });

  for (const [status, method, body] of [
    [301, 'QUERY', 'a=1'],
    [302, 'QUERY', 'a=1'],
    [303, 'GET', ''],
    [308, 'QUERY', 'a=1'],
  ] as const) {
    it(`repeats a QUERY as ${method} after ${status}`, async () => {
      const origin = await redirecting(status, '/b');
      const gate = await bench.client({ send_body_on_redirect: true });
      await send(gate, { origin, target: '/a', method: 'QUERY', body: 'a=1' });
      deepEqual([seen[1]!.method, seen[1]!.body], [method, body]);
    });
  }

  for (const status of [301, 302, 303]) {
    it(`changes a POST to a GET without a body after ${status}`, async () => {
      const origin = await redirecting(status, '/b');
      const headers = ['Content-Type', 'text/plain', 'X-Kept', '1'];
      await send(await bench.client(), { origin, target: '/a', method: 'POST', body: 'data', headers });
      const [, second] = seen;
      deepEqual(
        [second!.method, second!.body, second!.headers['content-type'], second!.headers['x-kept']],
        ['GET', '', undefined, '1'],
      );
    });
  }

  it('preserves the method HEAD', async () => {
    const origin = await redirecting(303, '/b');
    await send(await bench.client(), { origin, target: '/a', method: 'HEAD' });
    equal(seen[1]!.method, 'HEAD');
  });

  it('returns the 307 itself for a request with a body by default', async () => {
    const origin = await redirecting(307, '/b');
    const reply = await send(await bench.client(), { origin, target: '/a', method: 'POST', body: 'data' });
    deepEqual([reply.status, reply.headers.get('location'), await textOf(reply)], [307, '/b', 'moved']);
    equal(seen.length, 1);
  });

  it('repeats the body after a 307 with send_body_on_redirect', async () => {
    const origin = await redirecting(307, '/b');
    const gate = await bench.client({ send_body_on_redirect: true });
    await send(gate, { origin, target: '/a', method: 'POST', body: streamBody(['da', 'ta']) });
    deepEqual(
      seen.map(({ method, body }) => `${method} ${body}`),
      ['POST data', 'POST data'],
    );
  });

  it('follows a 308 without a body for any method', async () => {
    const origin = await redirecting(308, '/b');
    await send(await bench.client(), { origin, target: '/a', method: 'DELETE' });
    equal(seen[1]!.method, 'DELETE');
  });

  it('returns the redirect itself with no_redirect', async () => {
    const origin = await redirecting(302, '/b');
    const reply = await send(await bench.client({ no_redirect: true }), { origin, target: '/a' });
    deepEqual([reply.status, reply.headers.get('location')], [302, '/b']);
    equal(seen.length, 1);
  });

  it('drops credentials on redirects to another host', async () => {
    const origin = await redirecting(302, undefined);
    const elsewhere = origin.replace('127.0.0.1', 'localhost');
    const start = await bench.serve((_request, response) => redirect(response, 302, `${elsewhere}/b`));
    const headers = ['Authorization', 't', 'Cookie', 'k=v', 'WWW-Authenticate', 'w', 'X-Forwarded-For', '1.1.1.1'];
    await send(await bench.client(), { origin: start, target: '/a', headers });
    const [{ headers: got }] = seen as [(typeof seen)[0]];
    deepEqual(
      [got.authorization, got.cookie, got['www-authenticate'], got['x-forwarded-for']],
      [undefined, undefined, undefined, '1.1.1.1'],
    );
  });

  it('keeps credentials on redirects to the same host', async () => {
    const origin = await redirecting(302, '/b');
    await send(await bench.client(), { origin, target: '/a', headers: ['Authorization', 't'] });
    equal(seen[1]!.headers.authorization, 't');
  });

  it('stops after ten redirects', async () => {
    const origin = await redirecting(302, '/a');
    const { code, message } = errorOf(await send(await bench.client(), { origin, target: '/a' }));
    deepEqual([code, message], ['BACKEND_REDIRECTS', 'stopped after 10 redirects']);
    equal(seen.length, 11);
  });

  it('fails for a redirect without a Location header', async () => {
    const origin = await redirecting(302, undefined);
    equal(errorOf(await send(await bench.client(), { origin, target: '/a' })).code, 'BACKEND_REDIRECT');
  });

  it('fails for a redirect to another scheme', async () => {
    const origin = await redirecting(302, 'file:///etc/passwd');
    equal(errorOf(await send(await bench.client(), { origin, target: '/a' })).code, 'BACKEND_REDIRECT');
  });

  it('follows a redirect whose body never ends, and closes its connection', async () => {
    let closed = false;
    const origin = await bench.serve((request, response) => {
      if (request.url !== '/a') {
        response.end('there');
        return;
      }
      response.once('close', () => {
        closed = true;
      });
      response.writeHead(302, { Location: '/b' });
      const pour = () => {
        while (!closed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', pour);
      pour();
    });
    equal(await textOf(await send(await bench.client(), { origin, target: '/a' })), 'there');
    while (!closed) await new Promise((resolve) => setImmediate(resolve));
  });
});
