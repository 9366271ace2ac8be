import { randomBytes } from 'node:crypto';
import type { AddressInfo, Server, Socket } from 'node:net';
import rhea, { type Connection, type EventContext, type Message, type Sender } from 'rhea';

const { create_container, message: messages, types } = rhea;

/** A message of a subscription. */
export interface TestMessage {
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Subscription {
  readonly ready: TestMessage[];
  /** Locked messages by the tag of their delivery. */
  readonly locked: Map<string, TestMessage>;
  /** The links over which locked messages were delivered. */
  readonly owners: Map<string, Sender>;
  readonly completed: TestMessage[];
  readonly senders: Set<Sender>;
  abandoned: number;
}

/** A server with the part of Azure Service Bus that publishers and subscribers use. Its data survives restarts. */
export class TestServiceBus {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #topics = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #sent = new WeakMap<Sender, number>();
  /** Tokens that clients have presented for an address. */
  readonly tokens: string[] = [];
  /** Links that were opened to an entity. */
  opened = 0;
  /** Does not respond to publishers. */
  isSilent = false;
  /** Never reports that all messages were sent, so that the library closes its link and settles messages over another link. */
  ignoresDrain = false;
  /** Lets locks expire that clients want to renew. */
  refusesRenewals = false;
  /** Rejects every token. */
  refusesTokens = false;
  #server: Server | null = null;
  #port = 0;

  /** Connection string with an invalid key. */
  get connection(): string {
    return `Endpoint=sb://127.0.0.1:${this.#port};SharedAccessKeyName=root;SharedAccessKey=c2VjcmV0;UseDevelopmentEmulator=true`;
  }

  create(topic: string, subscription: string): Subscription {
    const made: Subscription = {
      ready: [],
      locked: new Map(),
      owners: new Map(),
      completed: [],
      senders: new Set(),
      abandoned: 0,
    };
    this.#topics.add(topic);
    this.#subscriptions.set(`${topic}/Subscriptions/${subscription}`, made);
    return made;
  }

  publish(topic: string, ...bodies: (string | Buffer)[]): void {
    for (const body of bodies) this.#publish(topic, { body: Buffer.from(body), properties: {} });
  }

  /** Ends the locks of messages whose link was closed. */
  expire(): void {
    for (const subscription of this.#subscriptions.values()) {
      for (const [tag, sender] of subscription.owners) {
        if (!subscription.senders.has(sender)) this.#finish(subscription, tag, false);
      }
    }
  }

  /** Restarts at the same port. */
  async start(): Promise<void> {
    const container = create_container({ id: 'test-service-bus' });
    container.sasl_server_mechanisms.enable_anonymous();
    container.on('connection_error', () => {});
    container.on('error', () => {});
    container.on('disconnected', ({ connection }: EventContext) => {
      for (const { senders } of this.#subscriptions.values()) {
        for (const sender of senders) if (sender.connection === connection) senders.delete(sender);
      }
    });
    container.on('sender_open', ({ sender }: EventContext) => this.#senderOpen(sender!));
    container.on('receiver_open', (context: EventContext) => {
      const { receiver } = context;
      const address: string = receiver!.target.address;
      receiver!.set_target({ address });
      if (address === '$cbs' || address.endsWith('/$management')) return;
      this.opened++;
      if (!this.#topics.has(address)) refuse(receiver!, address);
    });
    container.on('message', (context: EventContext) => this.#message(context));
    const settled = (isDone: boolean) => (context: EventContext) => this.#settle(context, isDone);
    container.on('accepted', settled(true));
    container.on('modified', settled(false));
    container.on('released', settled(false));
    const server = container.listen({
      port: this.#port,
      host: '127.0.0.1',
      receiver_options: { autoaccept: false },
    } as never) as Server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const { senders } of this.#subscriptions.values()) senders.clear();
    // Destroys the sockets with an error, because only then the library ends its timers.
    for (const socket of this.#sockets) socket.destroy(new Error('stopped by the test'));
    await closed;
  }

  #senderOpen(sender: Sender): void {
    const address: string = sender.source.address;
    sender.set_source({ address });
    if (address === '$cbs' || address.endsWith('/$management')) return;
    this.opened++;
    const subscription = this.#subscriptions.get(address);
    if (!subscription) return refuse(sender, address);
    subscription.senders.add(sender);
    sender.on('sendable', () => this.#deliver(subscription));
    sender.on('sender_draining', () => {
      if (!this.ignoresDrain) sender.set_drained(true);
    });
    sender.on('sender_close', () => subscription.senders.delete(sender));
  }

  #message({ connection, receiver, message, delivery }: EventContext): void {
    const address: string = receiver!.target.address;
    if (address === '$cbs' || address.endsWith('/$management')) delivery!.accept();
    if (address === '$cbs') {
      this.tokens.push(String(message!.application_properties?.['name']));
      const code = this.refusesTokens ? 401 : 202;
      return reply(connection, '$cbs', message!, { 'status-code': code, 'status-description': 'said by the test' });
    }
    if (address.endsWith('/$management')) {
      const entity = address.slice(0, -'/$management'.length);
      return this.#manage(connection, address, this.#subscriptions.get(entity)!, message!);
    }
    if (this.isSilent) return;
    const { content } = message!.body as { content: Buffer };
    this.#publish(address, { body: content, properties: { ...message!.application_properties } });
    delivery!.accept();
  }

  #manage(connection: Connection, address: string, subscription: Subscription, request: Message): void {
    const operation = request.application_properties?.['operation'];
    let body: unknown;
    if (operation === 'com.microsoft:renew-lock' && this.refusesRenewals) {
      for (const token of request.body['lock-tokens'] as Buffer[]) this.#finish(subscription, tagOf(token), false);
      return reply(connection, address, request, { statusCode: 410, statusDescription: 'the lock is over' });
    }
    if (operation === 'com.microsoft:renew-lock') {
      body = { expirations: types.wrap_array([Date.now() + 30_000], 0x83, undefined) };
    } else if (operation === 'com.microsoft:update-disposition') {
      for (const token of request.body['lock-tokens'] as Buffer[]) {
        this.#finish(subscription, tagOf(token), request.body['disposition-status'] === 'completed');
      }
    }
    reply(connection, address, request, { statusCode: 200, statusDescription: 'OK' }, body);
  }

  #publish(topic: string, message: TestMessage): void {
    for (const [name, subscription] of this.#subscriptions) {
      if (!name.startsWith(`${topic}/`)) continue;
      subscription.ready.push(message);
      this.#deliver(subscription);
    }
  }

  #deliver(subscription: Subscription): void {
    for (const sender of subscription.senders) {
      const link = sender as unknown as { credit: number; delivery_count: number };
      // Counts messages itself, because the credit of a link decreases only when the message is written, which happens
      // later.
      while (link.credit + link.delivery_count > (this.#sent.get(sender) ?? 0) && subscription.ready.length > 0) {
        this.#sent.set(sender, (this.#sent.get(sender) ?? 0) + 1);
        const message = subscription.ready.shift()!;
        const tag = randomBytes(16);
        subscription.locked.set(tag.toString('hex'), message);
        subscription.owners.set(tag.toString('hex'), sender);
        const sent = {
          body: messages.data_section(message.body),
          message_id: tag.toString('hex'),
          application_properties: { ...message.properties } as Record<string, string>,
          message_annotations: { 'x-opt-locked-until': types.wrap_timestamp(Date.now() + 30_000) },
        };
        sender.send(sent, tag);
      }
    }
  }

  #settle({ sender, delivery }: EventContext, isDone: boolean): void {
    const subscription = this.#subscriptions.get(sender!.source.address);
    if (!subscription) return;
    this.#finish(subscription, (delivery!.tag as Buffer).toString('hex'), isDone);
    delivery!.update(true, (messages as unknown as { accepted(): { described(): object } }).accepted().described());
  }

  #finish(subscription: Subscription, tag: string, isDone: boolean): void {
    const message = subscription.locked.get(tag);
    if (!message) return;
    subscription.locked.delete(tag);
    subscription.owners.delete(tag);
    if (isDone) subscription.completed.push(message);
    else {
      subscription.abandoned++;
      subscription.ready.unshift(message);
      this.#deliver(subscription);
    }
  }
}

/** A lock token is the tag of a delivery with its first three numbers in another byte order. */
function tagOf(token: Buffer): string {
  const parts = [token.subarray(0, 4), token.subarray(4, 6), token.subarray(6, 8)];
  return Buffer.concat([...parts.map((part) => Buffer.from(part).reverse()), token.subarray(8)]).toString('hex');
}

function refuse(link: { close(error: object): void }, address: string): void {
  const description = `The messaging entity '${address}' could not be found.`;
  link.close({ condition: 'amqp:not-found', description });
}

/** Responds over the link of the client that receives from the address. */
function reply(connection: Connection, address: string, request: Message, properties: object, body?: unknown): void {
  const sender = connection.find_sender((each: Sender) => each.source?.address === address) as Sender;
  const application_properties = properties as Record<string, string>;
  sender.send({ correlation_id: request.message_id as string, application_properties, body: body ?? {} });
}
