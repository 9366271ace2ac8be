import type { Infer, Schema } from '#contract';
import { declarationFields } from '../../../services/amqp/topology.ts';
import { reconnectionFields } from './broker.ts';

const param = (what: string, example: string) =>
  ({
    type: 'string',
    description: `Variable of the path that holds ${what}, its first letter in upper case.`,
    default: '',
    examples: [example],
  }) as const;

/** The fields of `backend/amqp/producer`. */
export const schema = {
  type: 'object',
  title: 'AMQP producer',
  examples: [
    { name: 'orders', exchange: 'shop', routing_key: 'order.created', static_routing_key: true, mandatory: true },
    { name: 'bills', exchange: 'shop', routing_key: 'bill', static_routing_key: true, durable: true, persistent: true },
  ],
  required: ['name', 'exchange', 'routing_key'],
  properties: {
    name: { type: 'string', description: 'Queue, in logs alone: the producer declares none.' },
    exchange: {
      type: 'string',
      minLength: 1,
      description: 'Exchange of type topic that is declared and published to.',
    },
    routing_key: {
      type: 'string',
      description:
        'With static_routing_key the routing key; else the variable of the path that holds it, its first letter in upper case.',
      examples: ['order.created'],
    },
    static_routing_key: { type: 'boolean', description: 'routing_key is the key itself.', default: false },
    ...declarationFields,
    mandatory: {
      type: 'boolean',
      description: 'A message that no queue takes is a failure.',
      default: false,
    },
    immediate: {
      type: 'boolean',
      description: 'A message that no consumer takes at once is a failure.',
      default: false,
      unused: { because: 'RabbitMQ does not know it any more', unless: [false] },
    },
    persistent: {
      type: 'boolean',
      description: 'Messages outlive a restart of the broker in queues that do.',
      default: false,
    },
    exp_key: param('the milliseconds after which the message expires', 'Ttl'),
    reply_to_key: param('the queue for replies', 'Reply'),
    msg_id_key: param('the identifier of the message', 'Id'),
    priority_key: param('the priority, a whole number from 0 to 255', 'Priority'),
    ...reconnectionFields,
  },
} as const satisfies Schema;

export type ProducerConfig = Infer<typeof schema>;
