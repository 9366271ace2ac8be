import { azure } from './azure.ts';
import type { Driver } from './driver.ts';
import { gcp } from './gcp.ts';
import { kafka } from './kafka.ts';
import { nats } from './nats.ts';
import { rabbit } from './rabbit.ts';
import { sns } from './sns.ts';
import { sqs } from './sqs.ts';

/** Drivers by the scheme of an address. */
const drivers: Readonly<Record<string, Driver>> = {
  kafka,
  nats,
  rabbit,
  amqp: rabbit,
  awssqs: sqs,
  awssns: sns,
  gcppubsub: gcp,
  azuresb: azure,
};

/** Returns the driver of a scheme; undefined if the scheme is unknown. */
export function driverOf(scheme: string): Driver | undefined {
  return Object.hasOwn(drivers, scheme) ? drivers[scheme] : undefined;
}

/** Supported schemes, as written in a host. */
export const schemes: readonly string[] = Object.keys(drivers).map((scheme) => `${scheme}://`);
