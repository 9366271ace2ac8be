import type { Channel } from 'amqplib';
import type { Schema } from '#contract';

/** Schema fields for components that declare an exchange or a queue. */
export const declarationFields = {
  durable: {
    type: 'boolean',
    description: 'Declares the queue or exchange as durable, so that it survives a broker restart.',
    default: false,
  },
  delete: {
    type: 'boolean',
    description: 'Auto-delete: the broker deletes the queue or exchange when it is no longer used.',
    default: false,
  },
  exclusive: { type: 'boolean', description: 'Restricts the queue to this connection.', default: false },
  no_wait: {
    type: 'boolean',
    description: 'Does not wait for the broker to confirm declarations.',
    default: false,
    unused: { because: 'the gateway always waits for the confirmation of declarations', unless: [false] },
  },
  no_local: {
    type: 'boolean',
    description: 'Does not consume messages published over the same connection.',
    unused: { because: 'RabbitMQ does not support no_local', unless: [false] },
  },
} as const satisfies Record<string, Schema>;

/** Schema of the prefetch limits of a consumer. @param meaning of the prefetch count, after its name. */
export const prefetchFields = <const Count extends number>(meaning: string, count: Count) =>
  ({
    prefetch_count: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: `Prefetch count: maximum number of ${meaning}. 0 means 1000.`,
      default: count,
    },
    prefetch_size: {
      type: 'integer',
      minimum: 0,
      maximum: 0,
      description: 'Prefetch limit in bytes. Must be 0: RabbitMQ does not support it.',
      default: 0,
    },
  }) as const satisfies Record<string, Schema>;

/** Flags that an exchange or a queue is declared with. */
export interface Declaration {
  readonly durable: boolean;
  readonly delete: boolean;
  readonly exclusive: boolean;
}

/** A queue to declare, with its bindings. */
export interface QueueDeclaration extends Declaration {
  readonly name: string;
  readonly exchange: string;
  /** Routing keys, one binding each; `*` matches one word, `#` any number of words. */
  readonly routingKeys: readonly string[];
}

/** @throws Error from the broker, for example when the exchange exists with different flags. */
export async function declareExchange(
  channel: Channel,
  exchange: string,
  { durable, delete: autoDelete }: Declaration,
): Promise<void> {
  await declared(`exchange "${exchange}"`, channel.assertExchange(exchange, 'topic', { durable, autoDelete }));
}

/** Declares exchange and queue and binds them. @returns the name of the queue. @throws Error if the broker rejects a declaration. */
export async function declareQueue(channel: Channel, declaration: QueueDeclaration): Promise<string> {
  const { name, exchange, routingKeys, durable, delete: autoDelete, exclusive } = declaration;
  await declareExchange(channel, exchange, declaration);
  const options = { durable, autoDelete, exclusive };
  const { queue } = await declared(`queue "${name}"`, channel.assertQueue(name, options));
  for (const key of routingKeys) {
    await declared(`binding of "${queue}" to "${exchange}" by "${key}"`, channel.bindQueue(queue, exchange, key));
  }
  return queue;
}

async function declared<T>(what: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw new Error(`declaration of ${what} failed: ${(error as Error).message}`, { cause: error });
  }
}
