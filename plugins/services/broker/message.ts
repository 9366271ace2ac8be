import { type Call, canonicalHeaderName, type HeaderBag } from '#contract';

/** What is sent to a broker. */
export interface Message {
  readonly payload: Uint8Array;
  /** In order; a name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** By which a log chooses the partition. */
  readonly key?: string | undefined;
}

/** What a broker has handed over, to be settled once. */
export interface Delivery {
  readonly payload: Uint8Array;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly key?: string | undefined;
  /** It is done with: the broker need not hand it over again. */
  accept(): void;
  /** The broker is to hand it over again. Absent where it cannot: the message is gone. */
  readonly giveBack?: () => void;
}

/** Sends messages to one place of a broker. */
export interface Publisher {
  /** @throws CallError when the broker has not taken it, or has not said so before the call was over. */
  send(message: Message, call: Call): Promise<void>;
}

/** Takes messages of one place of a broker, in order. */
export interface Subscriber {
  /** @throws CallError where there is none before the call is over, and at once where no broker is connected. */
  next(call: Call): Delivery | Promise<Delivery>;
  /** Gives a message to the next request: who has taken it could not use it. Absent where the broker keeps it. */
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
