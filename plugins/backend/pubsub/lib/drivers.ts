import type { Driver } from './driver.ts';
import { gcp } from './gcp.ts';
import { kafka } from './kafka.ts';
import { nats } from './nats.ts';
import { rabbit } from './rabbit.ts';
import { sns } from './sns.ts';
import { sqs } from './sqs.ts';

/** Kinds of brokers by the scheme of an address. */
const drivers: Readonly<Record<string, Driver>> = {
  kafka,
  nats,
  rabbit,
  amqp: rabbit,
  awssqs: sqs,
  awssns: sns,
  gcppubsub: gcp,
};

/** Schemes that are known and not served, with the reason. */
const refused: Readonly<Record<string, string>> = {
  azuresb: 'this release has no client for Azure Service Bus',
};

/** The driver for a scheme, the reason why there is none, or undefined for a scheme that nobody knows. */
export function driverOf(scheme: string): Driver | string | undefined {
  if (Object.hasOwn(drivers, scheme)) return drivers[scheme];
  return Object.hasOwn(refused, scheme) ? refused[scheme] : undefined;
}

/** As they are written in a host. */
export const schemes: readonly string[] = Object.keys(drivers).map((scheme) => `${scheme}://`);
