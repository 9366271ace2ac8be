import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startBackend, startGateway } from '../../../support/gateway.ts';

describe('backend/pubsub with SQS and SNS', () => {
  let aws: FauxqsServer;
  let gateway: Operations | undefined;
  let restore: () => void;
  let sinks: ReturnType<typeof rememberingSinks>;
  let count = 0;

  before(async () => {
    aws = await startFauxqs({ port: 0, logger: false });
  });
  after(() => aws.stop());
  beforeEach(() => {
    restore = setEnvironment({
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 's3cret',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    restore();
  });

  const start = async (...endpoints: object[]) => {
    gateway = await startGateway(
      {
        endpoints,
        extra_config: { router: { return_error_msg: true }, 'telemetry/logging': { level: 'DEBUG', stdout: true } },
      },
      { sinks },
    );
    return gateway;
  };
  const endpoint = (path: string, host: string, extra: object, more: object = {}) => ({
    endpoint: path,
    timeout: '20s',
    ...more,
    backend: [{ host: [host], disable_host_sanitize: true, url_pattern: '/', extra_config: extra }],
  });
  /** A new queue and its URL. */
  const queue = (options: object = {}) => {
    const name = `q${count++}${'attributes' in options ? '.fifo' : ''}`;
    const { queueUrl } = aws.createQueue(name, options);
    const place = new URL(queueUrl);
    return { name, url: `${place.host}${place.pathname}?region=us-east-1&endpoint=${aws.address}` };
  };
  const publish = (url: string, host = 'awssqs://') =>
    endpoint(
      '/publish',
      host,
      { 'backend/pubsub/publisher': { topic_url: url } },
      { method: 'POST', input_headers: ['*'] },
    );
  const take = (url: string, more: object = {}) =>
    endpoint('/take', 'awssqs://', { 'backend/pubsub/subscriber': { subscription_url: url } }, more);
  const send = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    gateway!.inject({ method: 'POST', url: '/publish', payload, headers });
  const messages = (name: string) => aws.inspectQueue(name)!.messages.ready;

  it('sends the request body, with its headers as message attributes', async () => {
    const { name, url } = queue();
    await start(publish(url));
    const reply = await send('x=1', { 'X-A': '1' });
    deepEqual([reply.statusCode, reply.body], [200, '{}']);
    const [message] = messages(name);
    equal(message!.body, 'x=1');
    equal(message!.messageAttributes['X-A']!.StringValue, '1');
  });

  it('sends only the first ten headers by name, and logs that once', async () => {
    const { name, url } = queue();
    await start(publish(url));
    const headers = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`A-${String(at).padStart(2, '0')}`, 'x']),
    );
    await send('1', headers);
    await send('2', headers);
    const names = Object.keys(messages(name)[0]!.messageAttributes);
    deepEqual(
      names.sort(),
      Array.from({ length: 10 }, (_, at) => `A-0${at}`),
    );
    equal(sinks.lines.filter((line) => line.includes('AWS accepts only the first 10')).length, 1);
  });

  it('returns a message to a waiting request and deletes it', async () => {
    const { name, url } = queue();
    await start(take(url));
    const reply = gateway!.inject('/take');
    aws.sendMessage(name, '{"n":1}');
    deepEqual((await reply).json(), { n: 1 });
    await until(() => aws.inspectQueue(name)!.messages.inflight.length === 0);
    equal(messages(name).length, 0);
  });

  it('transfers binary data unchanged', async () => {
    const { url } = queue();
    await start(publish(url), take(url, { output_encoding: 'no-op' }));
    const bytes = Buffer.from([0, 255, 1, 254]);
    equal((await send(bytes)).statusCode, 200);
    deepEqual((await gateway!.inject('/take')).rawPayload, bytes);
  });

  it('returns a message that cannot be decoded to the queue', async () => {
    const { name, url } = queue();
    await start(take(url));
    aws.sendMessage(name, 'oops');
    equal((await gateway!.inject('/take')).statusCode, 500);
    await until(() => messages(name).length === 1);
    ok(sinks.lines.some((line) => line.includes('and is requeued')));
  });

  it('fails at the deadline if no message arrived', async () => {
    const { url } = queue();
    await start(take(url, { timeout: '300ms' }));
    const startedAt = performance.now();
    equal((await gateway!.inject('/take')).statusCode, 500);
    ok(performance.now() - startedAt < 15_000);
  });

  it('sends to a FIFO queue with one message group', async () => {
    const { name, url } = queue({ attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' } });
    await start(publish(url));
    equal((await send('a')).statusCode, 200);
    equal(messages(name).length, 1);
  });

  it('publishes to a topic, whose queues receive the message with its attributes', async () => {
    const { name } = queue();
    const { topicArn } = aws.createTopic(`t${count}`);
    aws.subscribe({ topic: `t${count}`, queue: name });
    await start(publish(`/${topicArn}?region=us-east-1&endpoint=${aws.address}`, 'awssns://'));
    const reply = await send('über & out', { 'X-A': '1 + 1' });
    deepEqual([reply.statusCode, reply.body], [200, '{}']);
    const envelope = JSON.parse(messages(name)[0]!.body);
    equal(envelope.Message, 'über & out');
    equal(envelope.MessageAttributes['X-A'].Value, '1 + 1');
  });

  it('fails with the error code of AWS', async () => {
    const { url } = queue();
    await start(publish(url.replace(/q\d+\?/, 'nosuchqueue?')), take(url.replace(/q\d+\?/, 'nosuchqueue?')));
    for (const reply of [await send('x'), await gateway!.inject('/take')]) {
      equal(reply.statusCode, 500);
      match(reply.body, /NonExistentQueue|QueueDoesNotExist/);
    }
  });

  it('signs with the credentials of the environment, and fails without credentials', async () => {
    const seen: string[] = [];
    const stub = await startBackend(({ headers }, response) => {
      seen.push(String(headers.authorization));
      response.end('{}');
    });
    const url = `sqs.eu-west-1.amazonaws.com/123456789012/orders?endpoint=${stub.url}`;
    await start(publish(url));
    await send('x');
    match(seen[0]!, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/sqs\/aws4_request/);
    await gateway!.close();
    restore();
    restore = setEnvironment({
      AWS_ACCESS_KEY_ID: undefined,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/no/such/file',
      AWS_SHARED_CREDENTIALS_FILE: '/no/such/file',
    });
    await start(publish(url));
    const reply = await send('x');
    deepEqual([reply.statusCode, /no AWS credentials/.test(reply.body)], [500, true]);
    await stub.close();
  });

  for (const [what, host, url, direction, code] of [
    ['a subscription to a topic', 'awssns://', '/arn:aws:sns:eu-west-1:123456789012:a', 'take', 'PUBSUB_SCHEME'],
    ['an invalid topic', 'awssns://', '/arn:aws:sqs:eu-west-1:123456789012:a', 'publish', 'PUBSUB_ADDRESS'],
    ['an invalid queue', 'awssqs://', 'sqs.eu-west-1.amazonaws.com/orders', 'publish', 'PUBSUB_ADDRESS'],
    ['a missing region', 'awssqs://', 'localhost/123456789012/orders', 'publish', 'PUBSUB_PARAMETER'],
    ['an invalid region', 'awssqs://', 'localhost/123456789012/orders?region=moon', 'take', 'PUBSUB_PARAMETER'],
    [
      'an invalid endpoint',
      'awssqs://',
      'sqs.eu-west-1.amazonaws.com/123456789012/a?endpoint=x',
      'take',
      'PUBSUB_PARAMETER',
    ],
    [
      'an unknown parameter',
      'awssqs://',
      'sqs.eu-west-1.amazonaws.com/123456789012/a?wait=5',
      'take',
      'PUBSUB_PARAMETER',
    ],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const wrong =
        direction === 'publish'
          ? endpoint('/x', host, { 'backend/pubsub/publisher': { topic_url: url } })
          : endpoint('/x', host, { 'backend/pubsub/subscriber': { subscription_url: url } });
      const refusal = await start(wrong).then(
        () => null,
        (error: ConfigErrors) => error,
      );
      deepEqual(
        refusal?.errors.map((error) => error.code),
        [code],
      );
    });
  }
});
