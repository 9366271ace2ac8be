import { deepEqual, equal, match, throws } from 'node:assert/strict';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { demandPackage } from '../../../../plugins/backend/pubsub/lib/package.ts';
import { plugin as publisher } from '../../../../plugins/backend/pubsub/publisher/index.ts';
import { plugin as subscriber } from '../../../../plugins/backend/pubsub/subscriber/index.ts';
import { plugin as json } from '../../../../plugins/encoding/json.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { startGateway } from '../../../support/gateway.ts';

describe('backend/pubsub', () => {
  let restore: () => void;
  before(() => {
    restore = setEnvironment({ NATS_SERVER_URL: undefined });
  });
  after(() => restore());

  const plugins = [json];
  const open = (host: string, url: string, direction: 'publish' | 'take', around: object = {}) =>
    direction === 'publish'
      ? openHarness(publisher, 'backend', { topic_url: url }, { backend: { host: [host] }, plugins, ...around })
      : openHarness(
          subscriber,
          'backend',
          { subscription_url: url },
          { backend: { host: [host] }, plugins, ...around },
        );

  for (const [what, host, url, direction, code, place, text] of [
    ['an unknown scheme', 'foo://', 'x', 'publish', 'PUBSUB_SCHEME', '/topic_url', /"foo:\/\/x"/],
    ['an HTTP URL', 'http://users.internal', '/x', 'publish', 'PUBSUB_SCHEME', '/topic_url', /unknown scheme/],
    [
      'a URL without a scheme',
      'users.internal',
      '/x',
      'take',
      'PUBSUB_ADDRESS',
      '/subscription_url',
      /is not a valid address/,
    ],
    ['an empty subject', 'nats://', '?queue=a', 'take', 'PUBSUB_ADDRESS', '/subscription_url', /the subject is empty/],
    ['a subject with an empty token', 'nats://', 'a..b', 'publish', 'PUBSUB_ADDRESS', '/topic_url', /empty tokens/],
    ['a subject with white space', 'nats://', 'a b', 'publish', 'PUBSUB_ADDRESS', '/topic_url', /white space/],
    [
      "a publisher's subject with wildcards",
      'nats://',
      'a.*',
      'publish',
      'PUBSUB_ADDRESS',
      '/topic_url',
      /must not contain wildcards/,
    ],
    ['a misplaced wildcard', 'nats://', 'a.>.b', 'take', 'PUBSUB_ADDRESS', '/subscription_url', /at the end/],
    ['an unknown parameter', 'nats://', 'a?color=red', 'publish', 'PUBSUB_PARAMETER', '/topic_url', /"color"/],
    ['a parameter without a value', 'nats://', 'a?queue=', 'take', 'PUBSUB_PARAMETER', '/subscription_url', /no value/],
    [
      'a duplicate parameter',
      'nats://',
      'a?queue=b&queue=c',
      'take',
      'PUBSUB_PARAMETER',
      '/subscription_url',
      /more than one/,
    ],
  ] as const) {
    it(`rejects ${what}, and reports the URL`, async () => {
      const refusal = await open(host, url, direction).then(
        () => null,
        (error: ConfigErrors) => error,
      );
      deepEqual(
        refusal?.errors.map((error) => [error.code, error.pointer]),
        [[code, place]],
      );
      match(refusal!.errors[0]!.message, text);
    });
  }

  it('rejects a URL whose client library is not installed, and reports the URL', () => {
    const fault = (code: string, pointer: string, message: string) => new Error([code, pointer, message].join(' '));
    const opening = { site: { fault }, field: 'topic_url', address: { text: 'cloud://x' } };
    throws(
      () => demandPackage(opening as never, '@cloud/missing'),
      /PUBSUB_PACKAGE \/topic_url "cloud:\/\/x" requires/,
    );
  });

  it('rejects a backend without a host, and uses the first of several hosts', async () => {
    const none = await openHarness(publisher, 'backend', { topic_url: 'x' }, { backend: { host: [] } }).then(
      () => null,
      (error: ConfigErrors) => error,
    );
    deepEqual(
      none?.errors.map(({ code }) => code),
      ['PUBSUB_HOST'],
    );
    const gate = await open('nats://', 'x', 'publish', { backend: { host: ['nats://', 'nats://other'] } });
    deepEqual(
      gate.warnings.map(({ code }) => code),
      ['PUBSUB_HOSTS'],
    );
    await gate.close();
  });

  it('rejects an unknown field and ignores comment keys', async () => {
    const around = { backend: { host: ['nats://'] } };
    const refusal = await openHarness(publisher, 'backend', { topic_url: 'x', url: 'y' }, around).then(
      () => null,
      (error: ConfigErrors) => error,
    );
    deepEqual(
      refusal?.errors.map(({ code }) => code),
      ['SCHEMA_UNKNOWN_KEY'],
    );
    const gate = await openHarness(publisher, 'backend', { topic_url: 'x', '@comment': 'y' }, around);
    await gate.close();
  });

  it('rejects a publisher and a subscriber in one backend', async () => {
    const both = {
      'backend/pubsub/publisher': { topic_url: 'x' },
      'backend/pubsub/subscriber': { subscription_url: 'x' },
    };
    const backend = { host: ['nats://'], disable_host_sanitize: true, url_pattern: '/', extra_config: both };
    const refusal = await startGateway({ endpoints: [{ endpoint: '/x', backend: [backend] }] }).then(
      () => null,
      (error: ConfigErrors) => error,
    );
    deepEqual(
      refusal?.errors.map(({ code }) => code),
      ['BACKEND_PROTOCOLS'],
    );
  });

  it('warns if a setting causes the same request to be sent several times', async () => {
    for (const direction of ['publish', 'take'] as const) {
      const gate = await open('nats://', 'x', direction, { endpoint: { concurrent_calls: 3 } });
      deepEqual(
        gate.warnings.map(({ code }) => code),
        ['PUBSUB_CONCURRENT'],
      );
      await gate.close();
    }
  });

  it('fails each request if the environment variable for the server is not set', async () => {
    for (const direction of ['publish', 'take'] as const) {
      const gate = await open('nats://', 'x', direction);
      const { status, errors } = await gate.send('GET /');
      equal(status, 500);
      equal(errors[0]!.message, 'NATS: the environment variable NATS_SERVER_URL is not set');
      deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    }
  });

  it('never logs the environment variable if it is not a valid URL', async () => {
    const undo = setEnvironment({ NATS_SERVER_URL: 'nats://ada:pa55 word@' });
    try {
      const gate = await open('nats://', 'x', 'publish');
      const { errors } = await gate.send('GET /');
      equal(errors[0]!.message, 'NATS: NATS_SERVER_URL contains no address');
      await gate.close();
    } finally {
      undo();
    }
  });
});
