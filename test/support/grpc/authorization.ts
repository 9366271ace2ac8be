import {
  type handleUnaryCall,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** A request for a decision, as a standard server decodes it. */
export interface SeenCheck {
  readonly source: { address: { socket_address: { address: string } }; principal: string };
  readonly request: {
    readonly time: { seconds: string };
    readonly http: {
      readonly id: string;
      readonly method: string;
      readonly headers: Record<string, string>;
      readonly path: string;
      readonly host: string;
      readonly scheme: string;
      readonly size: string;
      readonly protocol: string;
      readonly body: string;
      readonly raw_body: Buffer;
    };
  };
  readonly context_extensions: Record<string, string>;
}

export interface AuthorizationServer {
  /** `host:port`. */
  readonly host: string;
  readonly checks: readonly SeenCheck[];
  close(): void;
}

export type Check = handleUnaryCall<{ attributes: SeenCheck }, object>;

const options = { keepCase: true, longs: String, defaults: true, oneofs: false };

/** Starts a standard gRPC server for Envoy's authorization API on a free port. */
export async function startAuthorization(
  check: Check,
  tls = ServerCredentials.createInsecure(),
): Promise<AuthorizationServer> {
  const loaded = loadPackageDefinition(loadSync('test/support/grpc/authorization.proto', options)) as unknown as {
    envoy: { service: { auth: { v3: { Authorization: { service: ServiceDefinition } } } } };
  };
  const checks: SeenCheck[] = [];
  const server = new Server();
  const noting: Check = (call, answer) => {
    checks.push(call.request.attributes);
    check(call, answer);
  };
  server.addService(loaded.envoy.service.auth.v3.Authorization.service, { Check: noting });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', tls, (error, free) => (error ? reject(error) : resolve(free)));
  });
  return { host: `127.0.0.1:${port}`, checks, close: () => server.forceShutdown() };
}
