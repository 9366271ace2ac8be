import { deepEqual, equal, throws } from 'node:assert/strict';
import { readAmqpAddress } from '../../../../plugins/clients/amqp/address.ts';

describe('the URL of an AMQP broker', () => {
  it('contains the user, password, port, virtual host and timeouts, each with a default', () => {
    deepEqual(readAmqpAddress('amqp://broker'), {
      isEncrypted: false,
      host: 'broker',
      port: 5672,
      username: 'guest',
      password: 'guest',
      vhost: '/',
      heartbeatS: 10,
      connectMs: 10_000,
      name: 'broker:5672',
    });
    deepEqual(readAmqpAddress('amqps://ann:s%40cret@[::1]:15671/a%2Fb?heartbeat=30&connection_timeout=2000'), {
      isEncrypted: true,
      host: '::1',
      port: 15_671,
      username: 'ann',
      password: 's@cret',
      vhost: 'a/b',
      heartbeatS: 30,
      connectMs: 2000,
      name: '[::1]:15671/a/b',
    });
    equal(readAmqpAddress('amqps://broker/').port, 5671);
    equal(readAmqpAddress('amqp://broker/').vhost, '/');
  });

  it('is rejected with a reason that does not contain its password', () => {
    const refused: readonly (readonly [text: string, reason: RegExp])[] = [
      ['', /not a valid broker address/],
      ['http://ann:s3cret@broker/', /not a valid broker address/],
      ['amqp://ann:s3cret@', /not a valid broker address/],
      ['amqp:broker', /not a valid broker address/],
      ['amqp://ann:s3cret@broker:99999/', /not a valid broker address/],
      ['amqp://ann:s3cret#x@broker/', /not a valid broker address|%23/],
      ['amqp://ann:s3cret@broker/#x', /%23/],
      ['amqp://ann:s3cret%@broker/', /percent-encoding/],
      ['amqp://ann:s3cret@broker/a/b', /%2F/],
      ['amqp://ann:s3cret@broker/?heartbeat=soon', /heartbeat must be a whole number/],
      ['amqp://ann:s3cret@broker/?keyfile=/a', /unknown parameter "keyfile"/],
    ];
    for (const [text, reason] of refused) {
      throws(
        () => readAmqpAddress(text),
        ({ message }: Error) => reason.test(message) && !message.includes('s3cret'),
        text,
      );
    }
  });
});
