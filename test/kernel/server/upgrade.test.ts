import { equal } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { asksToSwitch, protocolOf } from '../../../kernel/server/http1/upgrade.ts';
import { asksForHttp2 } from '../../../kernel/server/http2/h2c.ts';

const message = (headers: object, more: object = {}): IncomingMessage =>
  ({ headers, httpVersion: '1.1', url: '/a', ...more }) as IncomingMessage;

describe('a request to switch to another protocol', () => {
  const asking = { connection: 'keep-alive , Upgrade', upgrade: 'h3 , Shout' };
  const cases: [name: string, asked: IncomingMessage, asks: boolean][] = [
    ['names it among the options of its connection', message(asking), true],
    ['names no other option', message({ ...asking, connection: 'keep-alive, upgraded' }), false],
    ['has such options', message({ upgrade: 'shout' }), false],
    ['names a protocol', message({ connection: 'upgrade' }), false],
    ['has no length', message({ ...asking, 'content-length': '0' }), false],
    ['has no chunks', message({ ...asking, 'transfer-encoding': 'chunked' }), false],
    ['is no older one', message(asking, { httpVersion: '1.0' }), false],
  ];
  for (const [name, asked, asks] of cases) it(name, () => equal(asksToSwitch(asked), asks));

  it('gets the first of its protocols that is spoken', () => {
    equal(protocolOf(message(asking), new Set(['shout'])), 'shout');
    equal(protocolOf(message(asking), new Set(['shout', 'h3'])), 'h3');
    equal(protocolOf(message(asking), new Set(['other'])), null);
    equal(protocolOf(message(asking), new Set()), null);
    equal(protocolOf(message({ upgrade: 'shout' }), new Set(['shout'])), null);
  });
});

describe('a request to switch to HTTP/2', () => {
  const asking = { connection: 'Upgrade , HTTP2-Settings', upgrade: 'H2C', 'http2-settings': 'AAMAAABk', host: 'a' };
  const cases: [name: string, asked: IncomingMessage, asks: boolean][] = [
    ['tells its settings', message(asking), true],
    ['names them without a space', message({ ...asking, connection: 'upgrade,http2-settings' }), true],
    ['names them in any order', message({ ...asking, connection: 'HTTP2-Settings, Upgrade' }), true],
    ['names no other protocol', message({ ...asking, upgrade: 'h2' }), false],
    ['names a protocol', message({ ...asking, upgrade: undefined }), false],
    ['does not leave its settings out', message({ ...asking, 'http2-settings': undefined }), false],
    ['tells its settings once', message({ ...asking, 'http2-settings': ['a', 'b'] }), false],
    ['names them among the options of its connection', message({ ...asking, connection: 'upgrade' }), false],
    ['names the switch among them', message({ ...asking, connection: 'http2-settings' }), false],
    ['has no body', message({ ...asking, 'content-length': '2' }), false],
    ['tells its host', message({ ...asking, host: undefined }), false],
    ['has a path for its target', message(asking, { url: 'http://a/' }), false],
    ['has a target', message(asking, { url: undefined }), false],
  ];
  for (const [name, asked, asks] of cases) it(name, () => equal(asksForHttp2(asked), asks));
});
