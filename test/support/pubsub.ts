import { createRequire } from 'node:module';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type StatusObject,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

/** A message of a subscription. */
export interface TestMessage {
  readonly messageId: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string;
}

interface Subscription {
  ready: TestMessage[];
  readonly outstanding: Map<string, TestMessage>;
  readonly acknowledged: TestMessage[];
  /** Requested extensions of leases, with their seconds. */
  readonly renewed: { readonly ackId: string; readonly seconds: number }[];
  readonly pulls: Set<Pull>;
}

interface Pull {
  readonly stream: ServerDuplexStream<Request, object>;
  readonly room: number;
  held: number;
}

/** The fields of requests that tests check. */
interface Request {
  readonly topic: string;
  readonly subscription: string;
  readonly ackIds: string[];
  readonly ackDeadlineSeconds: number;
  readonly maxOutstandingMessages: string;
  readonly messages: TestMessage[];
}

/** A server with the part of the Google Cloud Pub/Sub API that subscribers and publishers use. Its data survives restarts. */
export class TestPubSub {
  readonly #topics = new Map<string, Set<string>>();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #owners = new Map<string, Pull>();
  /** Requests by the name of their method. */
  readonly calls: Record<string, number> = {};
  /** Methods that fail, with their gRPC status. */
  readonly failing = new Map<string, number>();
  /** Methods without a response. */
  readonly silent = new Set<string>();
  #server: Server | null = null;
  #port = 0;
  #ids = 0;

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Creates a topic and a subscription to it. @returns the state of the subscription. */
  create(project: string, name: string): Subscription {
    const topic = `projects/${project}/topics/${name}`;
    const subscription = `projects/${project}/subscriptions/${name}`;
    const made: Subscription = {
      ready: [],
      outstanding: new Map(),
      acknowledged: [],
      renewed: [],
      pulls: new Set(),
    };
    this.#topics.set(topic, new Set([subscription]));
    this.#subscriptions.set(subscription, made);
    return made;
  }

  /** @param data of the messages, one each. */
  publish(topic: string, ...data: string[]): void {
    const messages = data.map((each) => ({ data: Buffer.from(each), attributes: {}, orderingKey: '' }));
    this.#publish(topic, messages as unknown as TestMessage[]);
  }

  /** Ends the leases of all messages. */
  expire(): void {
    for (const subscription of this.#subscriptions.values()) {
      for (const ackId of [...subscription.outstanding.keys()]) this.#settle(subscription, ackId, false);
    }
  }

  /** Ends all message streams, as the service does occasionally. */
  endStreams(code: number): void {
    for (const { pulls } of this.#subscriptions.values()) {
      for (const { stream } of pulls) stream.emit('error', { code, details: 'the stream is over' });
    }
  }

  /** Restarts at the same port. */
  async start(): Promise<void> {
    const require = createRequire(import.meta.url);
    const path = require.resolve('@google-cloud/pubsub-api').replace(/src\/index\.js$/, 'protos/protos.json');
    const definition = fromJSON(require(path), { defaults: true, longs: String });
    const { google } = loadPackageDefinition(definition) as unknown as {
      google: { pubsub: { v1: Record<'Publisher' | 'Subscriber', { service: ServiceDefinition }> } };
    };
    const { Publisher, Subscriber } = google.pubsub.v1;
    const server = new Server();
    server.addService(Publisher.service, {
      getTopic: this.#unary('getTopic', ({ topic }) => this.#topics.has(topic) && { name: topic }),
      publish: this.#unary('publish', ({ topic, messages }) => {
        return this.#topics.has(topic) && { messageIds: this.#publish(topic, messages) };
      }),
    });
    server.addService(Subscriber.service, {
      acknowledge: this.#unary('acknowledge', ({ subscription, ackIds }) => {
        for (const ackId of ackIds) this.#settle(this.#subscriptions.get(subscription)!, ackId, true);
        return {};
      }),
      modifyAckDeadline: this.#unary('modifyAckDeadline', ({ subscription, ackIds, ackDeadlineSeconds: seconds }) => {
        const found = this.#subscriptions.get(subscription)!;
        for (const ackId of ackIds) {
          if (seconds === 0) this.#settle(found, ackId, false);
          else found.renewed.push({ ackId, seconds });
        }
        return {};
      }),
      streamingPull: (stream: ServerDuplexStream<Request, object>) => this.#pull(stream),
    });
    this.#port = await new Promise((resolve, reject) => {
      server.bindAsync(this.address, ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    this.#server = server;
  }

  async stop(): Promise<void> {
    this.#server?.forceShutdown();
    this.#server = null;
    for (const { pulls } of this.#subscriptions.values()) pulls.clear();
    this.#owners.clear();
  }

  #unary(name: string, reply: (request: Request) => object | false) {
    return ({ request }: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => {
      this.calls[name] = (this.calls[name] ?? 0) + 1;
      if (this.silent.has(name)) return;
      const code = this.failing.get(name);
      if (code !== undefined) return done({ code, details: 'refused by the test' } as StatusObject);
      const response = reply(request);
      if (response) done(null, response);
      else done({ code: status.NOT_FOUND, details: `Resource not found (resource=${request.topic}).` } as StatusObject);
    };
  }

  #pull(stream: ServerDuplexStream<Request, object>): void {
    this.calls['streamingPull'] = (this.calls['streamingPull'] ?? 0) + 1;
    const code = this.failing.get('streamingPull');
    if (code !== undefined) return void stream.emit('error', { code, details: 'refused by the test' });
    stream.on('error', () => {});
    stream.once('data', ({ subscription: name, maxOutstandingMessages }: Request) => {
      const subscription = this.#subscriptions.get(name);
      if (!subscription) {
        stream.emit('error', { code: status.NOT_FOUND, details: `Resource not found (resource=${name}).` });
        return;
      }
      stream.sendMetadata(stream.metadata);
      const pull: Pull = { stream, room: Number(maxOutstandingMessages), held: 0 };
      subscription.pulls.add(pull);
      const over = () => subscription.pulls.delete(pull);
      stream.once('cancelled', over);
      stream.once('end', () => {
        over();
        stream.end();
      });
      this.#deliver(subscription);
    });
  }

  #publish(topic: string, messages: readonly TestMessage[]): string[] {
    const made = messages.map((message) => ({ ...message, messageId: String(++this.#ids) }));
    for (const name of this.#topics.get(topic)!) {
      const subscription = this.#subscriptions.get(name)!;
      subscription.ready.push(...made);
      this.#deliver(subscription);
    }
    return made.map(({ messageId }) => messageId);
  }

  #deliver(subscription: Subscription): void {
    for (const pull of subscription.pulls) {
      while (pull.held < pull.room && subscription.ready.length > 0) {
        const message = subscription.ready.shift()!;
        const ackId = `a${++this.#ids}`;
        subscription.outstanding.set(ackId, message);
        this.#owners.set(ackId, pull);
        pull.held++;
        pull.stream.write({ receivedMessages: [{ ackId, message }] });
      }
    }
  }

  #settle(subscription: Subscription, ackId: string, isDone: boolean): void {
    const message = subscription.outstanding.get(ackId);
    if (!message) return;
    subscription.outstanding.delete(ackId);
    const owner = this.#owners.get(ackId);
    if (owner) owner.held--;
    this.#owners.delete(ackId);
    if (isDone) subscription.acknowledged.push(message);
    else subscription.ready.unshift(message);
    this.#deliver(subscription);
  }
}
