import { messagesSampleSuite } from '../../../samples/messages.suite.ts';
import { type Certificates, makeCertificates } from '../../../support/certificates.ts';
import { INSTALLATION_MS } from '../../../support/debian.ts';
import { OPENING_MS, startRabbit, type TestRabbit, withoutRabbit } from '../../../support/rabbitmq.ts';
import { agentSuite } from '../../async/amqp.suite.ts';
import { consumerSuite } from '../../backend/amqp/consumer.suite.ts';
import { producerSuite } from '../../backend/amqp/producer.suite.ts';
import { pubsubSuite } from '../../backend/pubsub/rabbit.suite.ts';
import { disconnectSuite } from '../../disconnects/amqp.suite.ts';
import { channelSuite } from './channel.suite.ts';

/** The broker that the suites share, because it takes seconds to start. */
export interface Broker {
  readonly rabbit: TestRabbit;
  /** Path of its CA certificate. */
  readonly authority: string;
}

const where = withoutRabbit === null ? describe : describe.skip;

where(`with RabbitMQ${withoutRabbit ? ` (${withoutRabbit})` : ''}`, function () {
  // The server needs seconds to apply queues and policies, and longer on a busy machine.
  this.timeout(180_000);
  let certificates: Certificates;
  let broker: Broker;

  before(async function () {
    this.timeout(OPENING_MS + INSTALLATION_MS);
    certificates = makeCertificates();
    const authority = certificates.authority('authority');
    const rabbit = await startRabbit(certificates.issue('broker', authority));
    broker = { rabbit, authority: authority.certificate };
  });
  after(async () => {
    await broker?.rabbit.close();
    certificates.remove();
  });

  channelSuite(() => broker);
  producerSuite(() => broker);
  consumerSuite(() => broker);
  agentSuite(() => broker);
  messagesSampleSuite(() => broker);
  pubsubSuite(() => broker);
  disconnectSuite(() => broker);
});
