import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Log } from '#contract';
import { type Delivery, Envelopes, readEnvelope } from './envelope.ts';
import type { Measures } from './measures.ts';
import { Member, type MemberEvents, type MemberLimits } from './member.ts';
import { BAD_GATEWAY, NOT_CONNECTED, type PeerLimits } from './peer.ts';
import type { RetrySettings } from './reconnect.ts';
import { type Dial, Uplink } from './uplink.ts';

/** Events of clients that left while the backend was away: of more, the oldest are forgotten. */
const MAX_DEPARTURES = 1000;

/** What belongs to the connection, for as long as it is there. */
export interface HubSettings extends MemberLimits {
  readonly backend: PeerLimits;
  readonly retries: RetrySettings;
  readonly tellsConnected: boolean;
  readonly tellsDisconnected: boolean;
  /** A client is told of messages that the backend could not be given. */
  readonly reportsErrors: boolean;
}

/** What the configuration that serves brings. */
export interface HubSurroundings {
  readonly dial: Dial;
  readonly measures: Measures;
  readonly log: Log;
}

/**
 * All clients of an endpoint, and the one connection to the backend that they share. What a client sends goes there in an
 * envelope; what comes goes to those whom its envelope names, or to all.
 */
export class Hub {
  readonly #settings: HubSettings;
  #around: HubSurroundings;
  readonly #members = new Map<string, Member>();
  /** Those with something for the backend, who has waited longest first. */
  readonly #waiting = new Set<Member>();
  readonly #departures: string[] = [];
  readonly #uplink: Uplink;
  #isCongested = false;

  constructor(settings: HubSettings, around: HubSurroundings) {
    this.#settings = settings;
    this.#around = around;
    const events = {
      ready: (isAgain: boolean) => {
        if (isAgain) this.#around.measures.reconnected();
        this.#isCongested = false;
        this.#flush();
      },
      message: (data: Buffer) => this.#deliver(data),
      drained: () => {
        this.#isCongested = false;
        this.#flush();
      },
      lost: (error: Error | null) => {
        if (error) this.#around.measures.failed('backend', error);
        // Nobody waits for a backend that is away: what does not fit into the buffers is dropped.
        for (const member of this.#members.values()) member.resume();
      },
      gaveUp: () => {
        for (const member of this.#members.values()) member.close(BAD_GATEWAY);
      },
    };
    this.#uplink = new Uplink(settings.backend, settings.retries, events, around.dial, around.log);
  }

  /** Clients that are connected. */
  get size(): number {
    return this.#members.size;
  }

  /** Another configuration serves with the same connection. */
  use(around: HubSurroundings): void {
    this.#around = around;
    this.#uplink.use(around.dial, around.log);
  }

  /** Connects to the backend, once. */
  open(): void {
    this.#uplink.open();
  }

  /**
   * A place for a client.
   * @param params of the path, by their names with the first letter in upper case.
   * @returns null while the backend is given up.
   */
  async admit(
    url: string,
    params: readonly (readonly [name: string, value: string])[],
    subprotocol: string,
  ): Promise<Member | null> {
    this.#uplink.open();
    if (this.#uplink.isGivenUp && !(await this.#uplink.revive())) return null;
    const session = new Map([['uuid', randomUUID() as string], ...params]);
    const envelopes = new Envelopes(url, session);
    return new Member({ url, session, envelopes, subprotocol }, this.#settings, this.#memberEvents);
  }

  /** Ends the connection to the backend. */
  close(): void {
    this.#uplink.close();
  }

  readonly #memberEvents: MemberEvents = {
    joined: (member) => {
      this.#around.measures.opened();
      this.#members.set(member.session.get('uuid')!, member);
      // The backend may have been given up in the meantime.
      if (this.#uplink.isGivenUp) return member.close(BAD_GATEWAY);
      if (!this.#settings.tellsConnected) return;
      member.isUnannounced = true;
      this.#waiting.add(member);
      this.#flush();
    },
    message: (member, data) => {
      const { maxWaiting, reportsErrors } = this.#settings;
      const { isReady } = this.#uplink;
      this.#around.measures.received();
      if (isReady && !this.#isCongested && !this.#waiting.has(member)) {
        this.#send(member.envelopes.message(data));
      } else if (member.waiting.length < maxWaiting || isReady) {
        // A copy: what came may be a small piece of a large chunk.
        member.waiting.push(Buffer.copyBytesFrom(data));
        this.#waiting.add(member);
        if (isReady && member.waiting.length >= maxWaiting) member.pause();
      } else {
        this.#around.measures.dropped();
        if (reportsErrors) member.report(NOT_CONNECTED);
      }
    },
    left: (member, error) => {
      const { measures, log } = this.#around;
      measures.closed();
      if (error) {
        log.debug(() => `client: ${error.message}`);
        measures.failed('client', error);
      }
      this.#members.delete(member.session.get('uuid')!);
      this.#waiting.delete(member);
      const { isReady } = this.#uplink;
      // What it was read of goes before; while the backend is away nothing of a client that is gone is kept.
      while (isReady && this.#sendNext(member));
      if (!this.#settings.tellsDisconnected || member.isUnannounced) return;
      const farewell = member.envelopes.event('disconnected');
      if (isReady) this.#send(farewell);
      else if (this.#departures.push(farewell) > MAX_DEPARTURES) this.#departures.shift();
    },
  };

  #send(text: string): void {
    if (!this.#uplink.send(text)) this.#isCongested = true;
  }

  /** @returns false when the client has nothing for the backend. */
  #sendNext(member: Member): boolean {
    if (member.isUnannounced) {
      member.isUnannounced = false;
      this.#send(member.envelopes.event('connected'));
      return true;
    }
    const data = member.waiting.shift();
    if (data) this.#send(member.envelopes.message(data));
    return data !== undefined;
  }

  /** Clients have a turn each, so that none keeps another one from the backend. */
  #flush(): void {
    const canSend = () => this.#uplink.isReady && !this.#isCongested;
    while (canSend() && this.#departures.length > 0) this.#send(this.#departures.shift()!);
    for (const member of this.#waiting) {
      if (!canSend()) return;
      this.#waiting.delete(member);
      this.#sendNext(member);
      if (member.waiting.length > 0) this.#waiting.add(member);
      else member.resume();
    }
  }

  #deliver(data: Buffer): void {
    const { measures, log } = this.#around;
    const delivery = readEnvelope(data);
    if (!delivery) {
      measures.dropped();
      return log.warning('backend: an envelope that cannot be delivered is dropped');
    }
    const isBinary = !isUtf8(delivery.payload);
    let isAddressed = false;
    for (const member of this.#addressed(delivery)) {
      isAddressed = true;
      if (member.deliver(delivery.payload, isBinary)) measures.sent();
      else measures.dropped();
    }
    if (isAddressed) return;
    measures.dropped();
    log.debug('backend: a message for a client that is not connected is dropped');
  }

  *#addressed({ url, session }: Delivery): Iterable<Member> {
    const uuid = session.find(([key]) => key === 'uuid')?.[1];
    const one = uuid === undefined ? undefined : this.#members.get(uuid);
    const candidates = uuid === undefined ? this.#members.values() : one ? [one] : [];
    for (const member of candidates) {
      if (url !== null && member.url !== url) continue;
      if (session.every(([key, value]) => member.session.get(key) === value)) yield member;
    }
  }
}
