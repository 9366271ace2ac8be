import type { Operations } from '#kernel';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { BUILDING_MS, startKafka, type TestKafka, withoutKafka } from '../../../support/kafka.ts';

/** A gateway in front of a Kafka broker, with helpers for both. */
export type KafkaStage = ReturnType<typeof testbed>;

/** Registers tests with a Kafka broker of their own; skipped if Kafka is not installed. */
export function describeKafka(tests: (stage: KafkaStage) => void): void {
  const title = `Kafka behind a backend${withoutKafka ? `: ${withoutKafka}` : ''}`;
  (withoutKafka ? describe.skip : describe)(title, function () {
    this.timeout(BUILDING_MS);
    tests(testbed());
  });
}

function testbed() {
  let broker: TestKafka;
  let gateway: Operations | undefined;
  let restore: () => void;
  let sinks: ReturnType<typeof rememberingSinks>;
  /** Names that no other test uses. */
  let count = 0;
  const fresh = (name: string) => `${name}${count++}`;

  before(async () => {
    const topics = Array.from({ length: 40 }, (_, at) => `t${at}:3,one${at}:1`).join(',');
    broker = await startKafka(['-topics', topics, '-max-bytes', '90000']);
  });
  after(() => broker.close());
  beforeEach(() => {
    restore = setEnvironment({ KAFKA_BROKERS: broker.address });
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    restore();
  });

  const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));
  const start = async (...endpoints: object[]) => {
    gateway = await startGateway(
      {
        endpoints,
        extra_config: {
          router: { return_error_msg: true },
          'telemetry/logging': { level: 'DEBUG', stdout: true },
        },
      },
      { sinks },
    );
    return gateway;
  };
  const endpoint = (path: string, extra: object, more: object = {}, backend: object = {}) => ({
    endpoint: path,
    timeout: '10s',
    ...more,
    backend: [{ url_pattern: '/', extra_config: extra, ...backend }],
  });
  const kafka = { host: ['kafka://'], disable_host_sanitize: true };
  const cluster = () => ({ brokers: [broker.address], metadata_retry_backoff: '20ms' });
  const writer = (topic: string, more: object = {}, top: object = {}, around: object = {}) =>
    endpoint(
      '/write',
      { 'backend/pubsub/publisher/kafka': { writer: { topic, cluster: cluster(), ...more }, ...top } },
      { method: 'POST', input_headers: ['X-Key', 'X-A'], ...around },
    );
  const reader = (topic: string, more: object = {}, around: object = {}, backend: object = {}) =>
    endpoint(
      '/read',
      { 'backend/pubsub/subscriber/kafka': { reader: { topics: [topic], cluster: cluster(), ...more } } },
      around,
      backend,
    );
  const write = (payload: string | Buffer = '{"a":1}', headers: Record<string, string | string[]> = {}) =>
    gateway!.inject({ method: 'POST', url: '/write', headers, payload });
  const read = () => gateway!.inject('/read');
  /** Waits until the group has its position in the topic, so that it reads only records written afterwards. */
  const joined = async (topic: string) => {
    let written = 0;
    let isRead = false;
    const first = read().finally(() => {
      isRead = true;
    });
    while (!isRead) await broker.produce(topic, `{"ready":${++written}}`);
    for (let seen = (await first).json().ready; seen < written; ) seen = (await read()).json().ready;
  };
  return {
    get broker() {
      return broker;
    },
    get gateway() {
      return gateway;
    },
    set gateway(started: Operations | undefined) {
      gateway = started;
    },
    get sinks() {
      return sinks;
    },
    fresh,
    lines,
    start,
    endpoint,
    kafka,
    cluster,
    writer,
    reader,
    write,
    read,
    joined,
  };
}
