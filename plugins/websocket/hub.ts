import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Log } from '#contract';
import { type Delivery, Envelopes, readEnvelope } from './envelope.ts';
import type { Measures } from './measures.ts';
import { Member, type MemberEvents, type MemberLimits } from './member.ts';
import { BAD_GATEWAY, NOT_CONNECTED, type PeerLimits } from './peer.ts';
import type { RetrySettings } from './reconnect.ts';
import { type Dial, Uplink } from './uplink.ts';

/** Maximum number of disconnect events kept while the backend is away; beyond it the oldest are discarded. */
const MAX_DEPARTURES = 1000;

/** Settings that are fixed for the lifetime of the connection. */
export interface HubSettings extends MemberLimits {
  readonly backend: PeerLimits;
  readonly retries: RetrySettings;
  readonly reportsConnected: boolean;
  readonly reportsDisconnected: boolean;
  /** True when clients are notified of messages that could not be delivered to the backend. */
  readonly reportsErrors: boolean;
}

/** Dependencies provided by the serving configuration. */
export interface HubSurroundings {
  readonly dial: Dial;
  readonly measures: Measures;
  readonly log: Log;
}

/**
 * All clients of an endpoint, and the single backend connection that they share. Client messages are sent to the
 * backend in envelopes; backend messages go to the recipients in their envelope, or to all clients.
 */
export class Hub {
  readonly #settings: HubSettings;
  #around: HubSurroundings;
  readonly #members = new Map<string, Member>();
  /** Members with queued messages for the backend, longest wait first. */
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
        // Clients are not paused while the backend is away, so messages that do not fit into the buffers are dropped.
        for (const member of this.#members.values()) member.resume();
      },
      gaveUp: () => {
        for (const member of this.#members.values()) member.close(BAD_GATEWAY);
      },
    };
    this.#uplink = new Uplink(settings.backend, settings.retries, events, around.dial, around.log);
  }

  /** Number of connected clients. */
  get size(): number {
    return this.#members.size;
  }

  /** Switches to another configuration that uses the same connection. */
  use(around: HubSurroundings): void {
    this.#around = around;
    this.#uplink.use(around.dial, around.log);
  }

  /** Connects to the backend, once. */
  open(): void {
    this.#uplink.open();
  }

  /**
   * Creates a member for a client.
   * @param params path parameters, by their names with the first letter in upper case.
   * @returns null if the gateway no longer tries to reach the backend.
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
      // If the gateway stopped trying to reach the backend in the meantime, the client is disconnected.
      if (this.#uplink.isGivenUp) return member.close(BAD_GATEWAY);
      if (!this.#settings.reportsConnected) return;
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
        // The data is copied, because it may be a small part of a large received chunk.
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
      // Messages already read from the client are sent first. While the backend is away, messages of a disconnected
      // client are discarded.
      while (isReady && this.#sendNext(member));
      if (!this.#settings.reportsDisconnected || member.isUnannounced) return;
      const farewell = member.envelopes.event('disconnected');
      if (isReady) this.#send(farewell);
      else if (this.#departures.push(farewell) > MAX_DEPARTURES) this.#departures.shift();
    },
  };

  #send(text: string): void {
    if (!this.#uplink.send(text)) this.#isCongested = true;
  }

  /** @returns false when the client has no messages for the backend. */
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

  /** Sends queued messages of one client after another, so that no client blocks the other clients. */
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
