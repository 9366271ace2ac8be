import { equal } from 'node:assert/strict';
import { BUILDING_MS, startKafka, type TestKafka, withoutKafka } from '../../support/kafka.ts';
import { type Case, DisconnectTestbed } from './testbed.ts';

const title = `a client that disconnects in the middle of a call to Kafka${withoutKafka ? `: ${withoutKafka}` : ''}`;

(withoutKafka ? describe.skip : describe)(title, function () {
  this.timeout(BUILDING_MS);
  const testbed = new DisconnectTestbed();
  let broker: TestKafka;

  before(async () => {
    broker = await startKafka(['-topics', 'written:1,read:1']);
  });
  after(() => broker.close());
  afterEach(() => testbed.close());

  const cluster = () => ({ brokers: [broker.address], metadata_retry_backoff: '20ms' });
  const backend = (component: string, config: object) => ({
    ...{ host: ['kafka://'], disable_host_sanitize: true, url_pattern: '/' },
    extra_config: { [component]: config, 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1 } },
  });

  it('does not count as a failed publish', async () => {
    const writer = { writer: { topic: 'written', cluster: cluster() } };
    const given: Case = {
      endpoint: { method: 'POST', backend: [backend('backend/pubsub/publisher/kafka', writer)] },
      method: 'POST',
      payload: '{"a":1}',
    };
    await testbed.start(given);
    equal(await testbed.ask(given), 200);
    broker.pause();
    try {
      for (let client = 0; client < 3; client++) await testbed.disconnect(given);
    } finally {
      broker.resume();
    }
    testbed.blamesNobody();
    equal(await testbed.ask(given), 200);
    testbed.blamesNobody();
  });

  it('does not count as a failed read, and loses no record', async () => {
    const reader = { reader: { topics: ['read'], cluster: cluster() } };
    const given: Case = { endpoint: { backend: [backend('backend/pubsub/subscriber/kafka', reader)] } };
    await testbed.start(given);
    // Waits for the group, because records written before the group has its position in the topic are not read.
    let isRead = false;
    const first = testbed.respond(given).finally(() => {
      isRead = true;
    });
    let written = 0;
    while (!isRead) await broker.produce('read', `{"a":${++written}}`);
    for (let seen = (await first).json().a; seen < written; ) seen = (await testbed.respond(given)).json().a;
    for (let client = 0; client < 3; client++) await testbed.disconnect(given);
    testbed.blamesNobody();
    await broker.produce('read', '{"last":1}');
    equal(await testbed.ask(given), 200);
    testbed.blamesNobody();
  });
});
