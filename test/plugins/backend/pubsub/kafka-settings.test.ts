// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, match } from 'node:assert/strict';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin as scheme } from '../../../../plugins/backend/pubsub/publisher/index.ts';
import { plugin as publisher } from '../../../../plugins/backend/pubsub/publisher/kafka.ts';
import { plugin as schemeSubscriber } from '../../../../plugins/backend/pubsub/subscriber/index.ts';
import { plugin as subscriber } from '../../../../plugins/backend/pubsub/subscriber/kafka.ts';
import { plugin as json } from '../../../../plugins/encoding/json.ts';

const brokers = ['kafka.internal:9092'];
const around = { plugins: [json], starts: false };

const write = (more: object = {}, cluster: object = {}, top: object = {}) => ({
  writer: { topic: 'orders', cluster: { brokers, ...cluster }, ...more },
  ...top,
});
const read = (more: object = {}, cluster: object = {}) => ({
  reader: { topics: ['orders'], cluster: { brokers, ...cluster }, ...more },
});

/** Errors of a configuration. */
async function refusal(config: object, of = publisher): Promise<readonly [string, string, string]> {
  try {
    const gate = await openHarness(of, 'backend', config, around);
    await gate.close();
    return ['', '', ''];
  } catch (error) {
    const [{ code, pointer, message }] = (error as ConfigErrors).errors as ConfigErrors['errors'] & [never];
    return [code, pointer, message];
  }
}

describe('the configuration of backend/pubsub with Kafka', () => {
  for (const [what, config, code, pointer, text] of [
    [
      'case 7: a status that it does not have',
      write({}, {}, { success_status_code: 202 }),
      'SCHEMA_ENUM',
      '/success_status_code',
      /./,
    ],
    [
      'a cluster without brokers',
      { writer: { topic: 'a', cluster: {} } },
      'SCHEMA_REQUIRED',
      '/writer/cluster',
      /brokers/,
    ],
    ['an empty list of brokers', write({}, { brokers: [] }), 'SCHEMA_RANGE', '/writer/cluster/brokers', /./],
    [
      'a broker without a port',
      write({}, { brokers: ['kafka'] }),
      'KAFKA_BROKER',
      '/writer/cluster/brokers/0',
      /host and port/,
    ],
    [
      'a broker with a URL scheme',
      write({}, { brokers: ['kafka://a:9092'] }),
      'KAFKA_BROKER',
      '/writer/cluster/brokers/0',
      /./,
    ],
    [
      'a certificate that cannot be read',
      write({}, { client_tls: { ca_certs: ['/no/such.pem'] } }),
      'CLIENT_TLS_FILE',
      '/writer/cluster/client_tls/ca_certs/0',
      /no\/such/,
    ],
    [
      'a client ID with white space',
      write({}, { client_id: 'a b' }),
      'KAFKA_CLIENT_ID',
      '/writer/cluster/client_id',
      /white space/,
    ],
    [
      'a timeout of zero',
      write({}, { dial_timeout: '0s' }),
      'KAFKA_DURATION',
      '/writer/cluster/dial_timeout',
      /above 0/,
    ],
    [
      'a user without a password',
      write({}, { sasl: { user: 'ada' } }),
      'KAFKA_SASL',
      '/writer/cluster/sasl/password',
      /needs user and password/,
    ],
    [
      'a password without a user',
      write({}, { sasl: { password: '${PASSWORD}' } }),
      'KAFKA_SASL',
      '/writer/cluster/sasl/user',
      /needs user/,
    ],
    [
      'an unknown mechanism',
      write({}, { sasl: { mechanism: 'GSSAPI' } }),
      'SCHEMA_ENUM',
      '/writer/cluster/sasl/mechanism',
      /./,
    ],
    [
      'azure_event_hub, which is not supported',
      write({}, { sasl: { user: 'a', password: '${P}', azure_event_hub: true } }),
      'KAFKA_OPTION',
      '/writer/cluster/sasl/azure_event_hub',
      /version 1/,
    ],
    [
      'disable_hanshake, which is not supported',
      write({}, { sasl: { user: 'a', password: '${P}', disable_hanshake: false } }),
      'KAFKA_OPTION',
      '/writer/cluster/sasl/disable_hanshake',
      /always sends/,
    ],
    [
      'scram_auth_id, which is not supported',
      write({}, { sasl: { user: 'a', password: '${P}', scram_auth_id: 'b' } }),
      'KAFKA_OPTION',
      '/writer/cluster/sasl/scram_auth_id',
      /SCRAM/,
    ],
    [
      'a compression level',
      write({ producer: { compression_level: '9' } }),
      'KAFKA_OPTION',
      '/writer/producer/compression_level',
      /default level/,
    ],
    [
      'an unknown codec',
      write({ producer: { compression_codec: 'brotli' } }),
      'SCHEMA_ENUM',
      '/writer/producer/compression_codec',
      /./,
    ],
    [
      'an unsupported number of acknowledgements',
      write({ producer: { required_acks: '3' } }),
      'KAFKA_OPTION',
      '/writer/producer/required_acks',
      /none, the leader or all replicas/,
    ],
    ['an invalid topic', write({ topic: 'a b' }), 'KAFKA_TOPIC', '/writer/topic', /not a valid topic name/],
    ['an unknown field', write({}, { zone: 'a' }), 'SCHEMA_UNKNOWN_KEY', '/writer/cluster/zone', /./],
  ] as const) {
    it(`rejects ${what} in a writer`, async () => {
      const [seenCode, seenPointer, message] = await refusal(config);
      deepEqual([seenCode, seenPointer], [code, pointer]);
      match(message, text);
    });
  }

  for (const [what, config, code, pointer, text] of [
    [
      'an empty list of topics',
      { reader: { cluster: { brokers }, topics: [] } },
      'SCHEMA_RANGE',
      '/reader/topics',
      /./,
    ],
    ['an invalid topic', read({ topics: ['a', '..'] }), 'KAFKA_TOPIC', '/reader/topics/1', /not a valid topic name/],
    [
      'a heartbeat interval longer than the session timeout',
      read({ group: { heartbeat_interval: '10s' } }),
      'KAFKA_GROUP',
      '/reader/group/heartbeat_interval',
      /less than session_timeout/,
    ],
    [
      'a rebalance timeout shorter than the session timeout',
      read({ group: { rebalance_timeout: '5s' } }),
      'KAFKA_GROUP',
      '/reader/group/rebalance_timeout',
      /at least/,
    ],
    [
      'the sticky rebalance strategy',
      read({ group: { rebalance_strategies: ['sticky'] } }),
      'KAFKA_OPTION',
      '/reader/group/rebalance_strategies',
      /"sticky" is not supported/,
    ],
    [
      'several rebalance strategies',
      read({ group: { rebalance_strategies: ['range', 'roundrobin'] } }),
      'KAFKA_OPTION',
      '/reader/group/rebalance_strategies',
      /only one strategy/,
    ],
    [
      'an unknown isolation level',
      read({ group: { isolation_level: 'serializable' } }),
      'SCHEMA_ENUM',
      '/reader/group/isolation_level',
      /./,
    ],
    ['a group with white space', read({ group: { id: 'a b' } }), 'KAFKA_GROUP', '/reader/group/id', /white space/],
  ] as const) {
    it(`rejects ${what} in a reader`, async () => {
      const [seenCode, seenPointer, message] = await refusal(config, subscriber);
      deepEqual([seenCode, seenPointer], [code, pointer]);
      match(message, text);
    });
  }

  it('accepts every other field, and isolation levels with the spellings commited and committed', async () => {
    const cluster = {
      keep_alive: '30s',
      rack_id: 'a',
      channel_buffer_size: 0,
      metadata_retry_max: 1,
      metadata_retry_backoff: '1s',
      read_timeout: '5s',
      client_id: 'gateway',
      sasl: { user: 'a', password: '${P}', auth_identity: 'b' },
    };
    deepEqual(await refusal(write({ producer: { required_acks: '1' } }, cluster)), ['', '', '']);
    for (const isolation of ['read_commited', 'read_committed', 'read_uncommited', 'read_uncommitted']) {
      const group = {
        isolation_level: isolation,
        instance_id: 'one',
        fetch_default: 1000,
        rebalance_strategies: ['roundrobin'],
      };
      deepEqual(await refusal(read({ group }, cluster), subscriber), ['', '', '']);
    }
  });

  it('warns about a key header that no request forwards, and about a field without effect', async () => {
    const warnings = async (config: object, headers: string[]) => {
      const gate = await openHarness(publisher, 'backend', config, { ...around, endpoint: { input_headers: headers } });
      await gate.close();
      return gate.warnings.map(({ code, pointer }) => [code, pointer]);
    };
    deepEqual(await warnings(write({ key_meta: 'X-Key' }), ['X-Other']), [['KAFKA_KEY', '/writer/key_meta']]);
    deepEqual(await warnings(write({ key_meta: 'X-Key' }), ['x-key']), []);
    deepEqual(await warnings(write({ key_meta: 'X-Key' }), ['*']), []);
    deepEqual(await warnings(write({}, { write_timeout: '5s' }), []), [
      ['OPTION_UNUSED', '/writer/cluster/write_timeout'],
    ]);
  });

  for (const [what, plugin, config, code] of [
    ['an unknown parameter', scheme, { topic_url: 't?colour=red' }, 'PUBSUB_PARAMETER'],
    ['an invalid topic', scheme, { topic_url: 'a/b' }, 'PUBSUB_ADDRESS'],
    ['a subscription without a topic', schemeSubscriber, { subscription_url: 'group' }, 'PUBSUB_PARAMETER'],
    ['a subscription without a group', schemeSubscriber, { subscription_url: '?topic=a' }, 'PUBSUB_ADDRESS'],
    ['an unknown offset', schemeSubscriber, { subscription_url: 'g?topic=a&offset=5' }, 'PUBSUB_PARAMETER'],
  ] as const) {
    it(`rejects ${what} in a URL`, async () => {
      const failure = await openHarness(plugin, 'backend', config, { ...around, backend: { host: ['kafka://'] } }).then(
        () => null,
        (error: ConfigErrors) => error,
      );
      deepEqual(
        failure?.errors.map((error) => error.code),
        [code],
      );
      match(failure!.errors[0]!.message, /kafka:\/\//);
    });
  }
});
