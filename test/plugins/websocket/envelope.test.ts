import { deepEqual, equal } from 'node:assert/strict';
import { Envelopes, readEnvelope } from '../../../plugins/websocket/envelope.ts';

describe('a websocket message envelope', () => {
  const session = new Map([
    ['uuid', 'u'],
    ['Room', 'red'],
  ]);

  it('contains the address, session and payload', () => {
    const envelopes = new Envelopes('/chat/red', session);
    equal(
      envelopes.message(Buffer.from('hi')),
      '{"url":"/chat/red","session":{"uuid":"u","Room":"red"},"body":"aGk="}',
    );
    equal(envelopes.event('connected'), '{"url":"/chat/red","session":{"uuid":"u","Room":"red"},"event":"connected"}');
    equal(envelopes.message(Buffer.alloc(0)), '{"url":"/chat/red","session":{"uuid":"u","Room":"red"},"body":""}');
  });

  it('preserves names such as __proto__ and quotes', () => {
    const odd = new Envelopes(
      '/a"b',
      new Map([
        ['__proto__', '"}'],
        ['Constructor', '\u2028'],
      ]),
    );
    const read = JSON.parse(odd.message(Buffer.from('x')));
    deepEqual(Object.entries(read.session), [
      ['__proto__', '"}'],
      ['Constructor', '\u2028'],
    ]);
    equal(read.url, '/a"b');
  });

  const toAll = (text: string | Buffer) => ({ payload: Buffer.from(text as string), url: null, session: [] });
  const read = (text: string | Buffer) => readEnvelope(Buffer.from(text as string));

  it('without an address and a session is sent to all clients', () => {
    deepEqual(read('{"body":"eA=="}'), toAll('x'));
    deepEqual(read(' \n{"body":"eA==","url":"","session":{}}'), toAll('x'));
    deepEqual(read('{"body":"eA==","url":null,"session":null}'), toAll('x'));
  });

  it('can contain a message of 24 MB', () => {
    const body = 'eHh4'.repeat(8_000_000);
    equal(read(`{"body":"${body}"}`)!.payload.length, 24_000_000);
    equal(read(`{"body":"${body}=="}`)!.payload[0], 0x7b);
  });

  it('is sent to clients that match its address and all session values', () => {
    deepEqual(read('{"body":"eA==","url":"/a","session":{"Room":"red","__proto__":"y"}}'), {
      payload: Buffer.from('x'),
      url: '/a',
      session: [
        ['Room', 'red'],
        ['__proto__', 'y'],
      ],
    });
  });

  for (const text of [
    'plain',
    '',
    '{',
    '{"body":"e',
    '[{"body":"eA=="}]',
    '"x"',
    'null',
    '{"other":1}',
    '{"body":1}',
    '{"body":"%%"}',
    '{"body":"eA"}',
    '{"body":"eA=\\n="}',
  ]) {
    it(`is not recognized in ${JSON.stringify(text)}, which is sent to all clients unchanged`, () => {
      deepEqual(read(text), toAll(text));
    });
  }

  it('is not recognized in binary messages', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe]);
    deepEqual(readEnvelope(bytes), toAll(bytes));
  });

  for (const text of [
    '{"session":{"uuid":"u"}}',
    '{"session":{"uuid":"u"},"body":"%%"}',
    '{"url":"/a","body":5}',
    '{"url":5,"body":"eA=="}',
    '{"session":"u","body":"eA=="}',
    '{"session":["u"],"body":"eA=="}',
    '{"session":{"uuid":5},"body":"eA=="}',
    '{"session":{"uuid":{"uuid":"u"}},"body":"eA=="}',
  ]) {
    it(`with an invalid recipient, such as ${text}, is dropped`, () => {
      equal(read(text), null);
    });
  }

  it('can be nested as deeply as its length allows', () => {
    const deep = `{"body":"eA==","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    deepEqual(read(deep), toAll('x'));
  });
});
