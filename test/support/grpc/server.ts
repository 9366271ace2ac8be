import { readFileSync } from 'node:fs';
import {
  type Client,
  credentials,
  type handleServerStreamingCall,
  type handleUnaryCall,
  loadPackageDefinition,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';

/** Descriptors of the test services. */
export const SHOP = 'test/support/grpc/shop.pb';
export const OLD = 'test/support/grpc/old.pb';

const options = { keepCase: true, longs: String, defaults: false, oneofs: false };

function load(path: string) {
  return loadPackageDefinition(loadFileDescriptorSetFromBuffer(readFileSync(path), options));
}

/** A call as a test method receives it. */
export interface SeenCall {
  readonly request: Record<string, unknown>;
  readonly metadata: ReturnType<Metadata['getMap']>;
  /** Milliseconds to the deadline; infinite for none. */
  readonly remainingMs: number;
}

type Unary = handleUnaryCall<object, object>;
type Streaming = handleServerStreamingCall<object, object>;

/** Methods of a server; omitted ones are UNIMPLEMENTED. */
export interface Methods {
  Find?: Unary;
  Echo?: Unary;
  Get?: Unary;
  Watch?: Streaming;
}

export interface TestGrpcServer {
  /** `host:port`. */
  readonly host: string;
  readonly calls: readonly SeenCall[];
  close(): Promise<void>;
}

interface ServerOptions {
  readonly tls?: ServerCredentials;
  readonly port?: number;
}

/** Starts a standard gRPC server for `shop.Shop` and `old.Old` on a free port. */
export function startGrpc(methods: Methods, options: ServerOptions = {}): Promise<TestGrpcServer> {
  return start([service(SHOP, 'shop', 'Shop'), service(OLD, 'old', 'Old')], methods, options);
}

/** Starts a server for one service of a descriptor set. */
export function startService(
  path: string,
  packageName: string,
  name: string,
  methods: Methods,
): Promise<TestGrpcServer> {
  return start([service(path, packageName, name)], methods, {});
}

async function start(
  services: readonly never[],
  methods: Methods,
  { tls = ServerCredentials.createInsecure(), port = 0 }: ServerOptions,
): Promise<TestGrpcServer> {
  const calls: SeenCall[] = [];
  const server = new Server();
  const noted = Object.entries(methods).map(([name, method]) => [
    name,
    (call: Parameters<Unary>[0], ...rest: unknown[]) => {
      const deadline = call.getDeadline();
      calls.push({
        request: call.request as Record<string, unknown>,
        metadata: call.metadata.getMap(),
        remainingMs: Number(deadline) - Date.now(),
      });
      (method as (...given: unknown[]) => void)(call, ...rest);
    },
  ]);
  const implementation = Object.fromEntries(noted) as UntypedServiceImplementation;
  for (const each of services) server.addService(each, implementation);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, tls, (error, free) => (error ? reject(error) : resolve(free)));
  });
  return {
    host: `127.0.0.1:${bound}`,
    calls,
    async close() {
      server.forceShutdown();
    },
  };
}

function service(path: string, packageName: string, name: string) {
  const loaded = load(path) as unknown as Record<string, Record<string, { service: never }>>;
  return loaded[packageName]![name]!.service;
}

/** A failure of a method. */
export function failure(code: status, details: string): Partial<ServiceError> {
  return { code, details };
}

type Answer = (error: ServiceError | null, value?: Record<string, unknown>) => void;

/** A standard client of `shop.Shop`, with methods by name. */
export type ShopClient = Client &
  Record<
    'Find' | 'Echo',
    (
      request: object,
      metadata: Metadata,
      options: object,
      answer: Answer,
    ) => { cancel(): void; on(name: string, listener: unknown): void }
  >;

/** A standard client of one service of a descriptor set. */
export function clientOf(path: string, packageName: string, name: string, host: string): Client {
  const loaded = load(path) as unknown as Record<string, Record<string, new (...given: unknown[]) => Client>>;
  return new loaded[packageName]![name]!(host, credentials.createInsecure());
}

export function shopClient(host: string, tls = credentials.createInsecure(), settings: object = {}): ShopClient {
  const { shop } = load(SHOP) as unknown as { shop: { Shop: new (...given: unknown[]) => ShopClient } };
  return new shop.Shop(host, tls, settings);
}

export { Metadata, ServerCredentials, status };
