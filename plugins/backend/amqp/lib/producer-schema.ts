import type { Infer, Schema } from '#contract';
import { declarationFields } from '../../../clients/amqp/topology.ts';
import { reconnectionFields } from './broker.ts';

const param = (what: string, example: string) =>
  ({
    type: 'string',
    description: `Name of the path parameter that contains ${what}. Written with a capital first letter: Id for {id}.`,
    default: '',
    examples: [example],
  }) as const;

export const schema = {
  type: 'object',
  title: 'AMQP producer',
  examples: [
    { name: 'orders', exchange: 'shop', routing_key: 'order.created', static_routing_key: true, mandatory: true },
    { name: 'bills', exchange: 'shop', routing_key: 'bill', static_routing_key: true, durable: true, persistent: true },
  ],
  required: ['name', 'exchange', 'routing_key'],
  properties: {
    name: { type: 'string', description: 'Queue name used in logs. The producer declares no queue.' },
    exchange: {
      type: 'string',
      minLength: 1,
      description: 'Name of the topic exchange to declare and publish to.',
    },
    routing_key: {
      type: 'string',
      description:
        'Name of the path parameter that contains the routing key, written with a capital first letter: `Id` for `{id}`. With static_routing_key, the routing key itself.',
      examples: ['order.created'],
    },
    static_routing_key: {
      type: 'boolean',
      description: 'Treats routing_key as the key itself instead of the name of a path parameter.',
      default: false,
    },
    ...declarationFields,
    mandatory: {
      type: 'boolean',
      description: 'Fails the request if no queue receives the message.',
      default: false,
    },
    immediate: {
      type: 'boolean',
      description: 'Fails the request if no consumer can receive the message immediately.',
      default: false,
      unused: { because: 'Deprecated: removed from RabbitMQ.', unless: [false] },
    },
    persistent: {
      type: 'boolean',
      description: 'Marks messages as persistent, so that they survive a broker restart in durable queues.',
      default: false,
    },
    exp_key: param('the expiration time of the message in milliseconds', 'Ttl'),
    reply_to_key: param('the queue for replies', 'Reply'),
    msg_id_key: param('the identifier of the message', 'Id'),
    priority_key: param('the priority, a whole number from 0 to 255', 'Priority'),
    ...reconnectionFields,
  },
} as const satisfies Schema;

export type ProducerConfig = Infer<typeof schema>;
