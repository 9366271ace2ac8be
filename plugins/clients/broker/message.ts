import { type Call, canonicalHeaderName, type HeaderBag } from '#contract';

/** A message to publish. */
export interface Message {
  readonly payload: Uint8Array;
  /** Headers in order; a name may occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Key by which a log such as Kafka assigns the message to a partition. */
  readonly key?: string | undefined;
}

/** A message delivered by a broker, to be acknowledged or returned once. */
export interface Delivery {
  readonly payload: Uint8Array;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly key?: string | undefined;
  /** Acknowledges the message, so that the broker does not redeliver it. */
  accept(): void;
  /** Returns the message to the broker for redelivery. Absent if the broker does not support redelivery, so that the message is lost. */
  readonly giveBack?: () => void;
}

/** Publishes messages to one destination of a broker. */
export interface Publisher {
  /** @throws CallError when the broker has not accepted the message, or has not confirmed it before the call ended. */
  send(message: Message, call: Call): Promise<void>;
}

/** Takes messages from one source of a broker, in order. */
export interface Subscriber {
  /** @throws CallError when no message arrives before the call ends, and immediately when no broker is connected. */
  next(call: Call): Delivery | Promise<Delivery>;
  /** Passes a message to the next request, because the request that took it could not use it. Absent if the broker keeps it. */
  putBack?(delivery: Delivery): void;
}

/** Headers with the first value of each, under their canonical names. */
export function firstValues(headers: HeaderBag): [name: string, value: string][] {
  const first = new Map<string, string>();
  for (const [name, value] of headers) {
    const canonical = canonicalHeaderName(name);
    if (!first.has(canonical)) first.set(canonical, value);
  }
  return [...first];
}
