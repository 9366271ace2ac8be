import { Call, isObject, type Log } from '#contract';
import type { Delivery, Publisher, Subscriber } from '../../../clients/broker/message.ts';
import { onlyParams } from './address.ts';
import { type AwsService, callAws, messagesFor, payloadOf, serviceOf } from './aws.ts';
import type { Driver, Opening } from './driver.ts';

/** Maximum long-polling time of SQS, in seconds. */
const LONGEST_POLL_S = 20;
/** Interval between requests if less than a second is left, in milliseconds. */
const SHORT_POLL_MS = 100;
/** Timeout for acknowledging or returning a message, in milliseconds. */
const SETTLE_MS = 10_000;

/** An AWS SQS queue. Messages are not prefetched: each request receives its own message. */
export const sqs: Driver = {
  name: 'SQS',
  publisher(opening) {
    const queue = queueOf(opening);
    return () => publisherOf(queue, opening.log);
  },
  subscriber(opening) {
    const queue = queueOf(opening);
    return () => new SqsSubscriber(queue, opening.log);
  },
};

interface Queue {
  readonly url: string;
  readonly service: AwsService;
}

/** @throws ConfigError PUBSUB_ADDRESS, PUBSUB_PARAMETER */
function queueOf(opening: Opening): Queue {
  const { site, field, address } = opening;
  onlyParams(site, field, address, ['region', 'endpoint']);
  const [, host, path] = /^([^/]+)\/(\d{12}\/[\w-]{1,80}(?:\.fifo)?)$/.exec(address.place) ?? [];
  if (host === undefined) {
    throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}" is not a valid queue address`, {
      hint: 'awssqs://sqs.eu-west-1.amazonaws.com/123456789012/orders?region=eu-west-1',
    });
  }
  const service = serviceOf(opening, 'sqs', /^sqs\.([a-z\d-]+)\./.exec(host)?.[1]);
  const isPlain = service.origin.startsWith('http:');
  return { url: `${isPlain ? 'http' : 'https'}://${host}/${path}`, service };
}

/** Calls an action of the queue. @returns the response object of SQS. */
async function ask({ url, service }: Queue, action: string, body: object, call: Call) {
  const headers = ['Content-Type', 'application/x-amz-json-1.0', 'X-Amz-Target', `AmazonSQS.${action}`];
  const text = await callAws(service, headers, JSON.stringify({ QueueUrl: url, ...body }), call);
  const response: unknown = text === '' ? {} : JSON.parse(text);
  return isObject(response) ? response : {};
}

function publisherOf(queue: Queue, log: Log): Publisher {
  const messageOf = messagesFor(log);
  const isFifo = queue.url.endsWith('.fifo');
  return {
    async send(message, call) {
      const { text, attributes } = messageOf(message);
      const named = attributes.map(([name, value]) => [name, { DataType: 'String', StringValue: value }]);
      // All messages of a FIFO queue belong to one message group, so that they stay in order.
      const group = isFifo && { MessageGroupId: 'default' };
      const body = { MessageBody: text, MessageAttributes: Object.fromEntries(named), ...group };
      await ask(queue, 'SendMessage', body, call);
    },
  };
}

/** A message in a response of SQS. */
interface SqsMessage {
  readonly Body?: unknown;
  readonly ReceiptHandle?: unknown;
  readonly MessageAttributes?: unknown;
}

class SqsSubscriber implements Subscriber {
  readonly #queue: Queue;
  readonly #log: Log;

  constructor(queue: Queue, log: Log) {
    this.#queue = queue;
    this.#log = log;
  }

  async next(call: Call): Promise<Delivery> {
    for (;;) {
      const seconds = Math.floor(Math.max(Math.min(call.remainingMs / 1000, LONGEST_POLL_S), 0));
      const { Messages: messages } = await ask(
        this.#queue,
        'ReceiveMessage',
        { MaxNumberOfMessages: 1, WaitTimeSeconds: seconds, MessageAttributeNames: ['All'] },
        call,
      );
      const message: unknown = Array.isArray(messages) ? messages[0] : undefined;
      if (isObject(message)) return this.#delivery(message);
      if (seconds === 0) await pause(call);
      if (call.reason) throw call.reason;
    }
  }

  #delivery({ Body: body, ReceiptHandle: handle, MessageAttributes: named }: SqsMessage): Delivery {
    const attributes = isObject(named) ? named : {};
    const receipt = { ReceiptHandle: handle };
    return {
      payload: payloadOf(String(body ?? ''), attributes),
      headers: Object.entries(attributes).map(([name, held]) => [
        name,
        String(isObject(held) ? (held['StringValue'] ?? '') : ''),
      ]),
      accept: () => void this.#settle('DeleteMessage', receipt),
      giveBack: () => void this.#settle('ChangeMessageVisibility', { ...receipt, VisibilityTimeout: 0 }),
    };
  }

  /** Deletes or returns a message in the background, without delaying the request. If that fails, the message is redelivered once it is visible again. */
  async #settle(action: string, body: object): Promise<void> {
    const call = new Call(undefined, SETTLE_MS);
    try {
      await ask(this.#queue, action, body, call);
    } catch (error) {
      this.#log.warning(`${action} failed, and the message will be redelivered: ${(error as Error).message}`);
    } finally {
      call.finish();
    }
  }
}

/** Waits between two short polls, at most until the call ends. */
function pause(call: Call): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, SHORT_POLL_MS);
  const cancellation = call.onCancel(() => resolve());
  return promise.finally(() => {
    clearTimeout(timer);
    cancellation.off();
  });
}
