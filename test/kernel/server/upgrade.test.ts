import { equal } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { protocolOf, requestsSwitch } from '../../../kernel/server/http1/upgrade.ts';
import { requestsHttp2 } from '../../../kernel/server/http2/h2c.ts';

const message = (headers: object, more: object = {}): IncomingMessage =>
  ({ headers, httpVersion: '1.1', url: '/a', ...more }) as IncomingMessage;

describe('a request to switch to another protocol', () => {
  const asking = { connection: 'keep-alive , Upgrade', upgrade: 'h3 , Shout' };
  const cases: [name: string, request: IncomingMessage, isRecognized: boolean][] = [
    ['with Upgrade in its Connection header', message(asking), true],
    [
      'with "upgraded" instead of Upgrade in its Connection header',
      message({ ...asking, connection: 'keep-alive, upgraded' }),
      false,
    ],
    ['without a Connection header', message({ upgrade: 'shout' }), false],
    ['without a protocol', message({ connection: 'upgrade' }), false],
    ['with a Content-Length', message({ ...asking, 'content-length': '0' }), false],
    ['with a Transfer-Encoding', message({ ...asking, 'transfer-encoding': 'chunked' }), false],
    ['over HTTP/1.0', message(asking, { httpVersion: '1.0' }), false],
  ];
  for (const [name, request, isRecognized] of cases) {
    it(`is ${isRecognized ? 'recognized' : 'ignored'} ${name}`, () => equal(requestsSwitch(request), isRecognized));
  }

  it('receives the first of its protocols that is supported', () => {
    equal(protocolOf(message(asking), new Set(['shout'])), 'shout');
    equal(protocolOf(message(asking), new Set(['shout', 'h3'])), 'h3');
    equal(protocolOf(message(asking), new Set(['other'])), null);
    equal(protocolOf(message(asking), new Set()), null);
    equal(protocolOf(message({ upgrade: 'shout' }), new Set(['shout'])), null);
  });
});

describe('a request to switch to HTTP/2', () => {
  const asking = { connection: 'Upgrade , HTTP2-Settings', upgrade: 'H2C', 'http2-settings': 'AAMAAABk', host: 'a' };
  const cases: [name: string, request: IncomingMessage, isRecognized: boolean][] = [
    ['with its settings', message(asking), true],
    ['without a space in Connection', message({ ...asking, connection: 'upgrade,http2-settings' }), true],
    [
      'with the options of Connection in another order',
      message({ ...asking, connection: 'HTTP2-Settings, Upgrade' }),
      true,
    ],
    ['for another protocol', message({ ...asking, upgrade: 'h2' }), false],
    ['without a protocol', message({ ...asking, upgrade: undefined }), false],
    ['without HTTP2-Settings', message({ ...asking, 'http2-settings': undefined }), false],
    ['with two HTTP2-Settings', message({ ...asking, 'http2-settings': ['a', 'b'] }), false],
    ['without HTTP2-Settings in Connection', message({ ...asking, connection: 'upgrade' }), false],
    ['without Upgrade in Connection', message({ ...asking, connection: 'http2-settings' }), false],
    ['with a body', message({ ...asking, 'content-length': '2' }), false],
    ['without a host', message({ ...asking, host: undefined }), false],
    ['with an absolute target', message(asking, { url: 'http://a/' }), false],
    ['without a target', message(asking, { url: undefined }), false],
  ];
  for (const [name, request, isRecognized] of cases) {
    it(`is ${isRecognized ? 'recognized' : 'ignored'} ${name}`, () => equal(requestsHttp2(request), isRecognized));
  }
});
