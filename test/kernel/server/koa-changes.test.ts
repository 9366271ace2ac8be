import { deepEqual, equal } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { KoaChanges } from '../../../kernel/server/exchange/koa-reply.ts';

const messageOf = (): IncomingMessage =>
  ({
    url: '/a',
    method: 'GET',
    headers: { host: 'a', 'x-one': '1', 'x-two': '1, 2', 'content-length': '5' },
    rawHeaders: ['Host', 'a', 'X-One', '1', 'X-Two', '1', 'x-two', '2', 'Content-Length', '5'],
  }) as unknown as IncomingMessage;

/** The headers that the pipeline receives after a change. */
function settledAfter(change: (headers: IncomingMessage['headers']) => void): string[] {
  const message = messageOf();
  const changes = new KoaChanges(message);
  change(message.headers);
  changes.settleHeaders();
  return message.rawHeaders;
}

describe('request changes made by Koa middleware', () => {
  const { rawHeaders: untouched } = messageOf();

  it('are empty if the middleware changes nothing', () => {
    deepEqual(
      settledAfter(() => {}),
      untouched,
    );
  });

  it('include headers that it sets, replaces or removes', () => {
    const settled = settledAfter((headers) => {
      headers['x-new'] = 'n';
      headers['x-two'] = '3';
      delete headers['x-one'];
    });
    deepEqual(settled, ['Host', 'a', 'Content-Length', '5', 'x-two', '3', 'x-new', 'n']);
  });

  it('can add a header, even several with the same name', () => {
    const settled = settledAfter((headers) => {
      delete headers.host;
      headers['set-cookie'] = ['a=1', 'b=2'];
    });
    deepEqual(settled, [...untouched.slice(2), 'set-cookie', 'a=1', 'set-cookie', 'b=2']);
  });

  it("exclude headers of the body's framing and pseudo-headers", () => {
    const settled = settledAfter((headers) => {
      headers['content-length'] = '0';
      headers['Transfer-Encoding'] = 'chunked';
      headers[':path'] = '/b';
    });
    deepEqual(settled, untouched);
  });

  it('can change the target and the method', () => {
    const message = messageOf();
    const changes = new KoaChanges(message);
    equal(changes.isElsewhere, false);
    message.url = '/b';
    equal(changes.isElsewhere, true);
    message.url = '/a';
    message.method = 'PUT';
    equal(changes.isElsewhere, true);
  });
});
