import type { Target } from '../target.ts';

/** Loads a target by its name. Measuring coverage takes longer the more modules are loaded. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {
  'http1-responses': async () => (await import('./http1-responses.ts')).http1Responses,
  'http-server': async () => (await import('./http-server.ts')).httpServer,
  'http2-server': async () => (await import('./http2-server.ts')).http2Server,
  websocket: async () => (await import('./websocket.ts')).websocket,
  'grpc-backend': async () => (await import('./grpc-backend.ts')).grpcBackend,
  'grpc-server': async () => (await import('./grpc-server.ts')).grpcServer,
  'exact-json': async () => (await import('./exact-json.ts')).exactJson,
  syntaxes: async () => (await import('./syntaxes.ts')).syntaxes,
  configuration: async () => (await import('./configuration.ts')).configuration,
  patterns: async () => (await import('./patterns.ts')).patterns,
  templates: async () => (await import('./templates.ts')).templates,
  cel: async () => (await import('./cel.ts')).cel,
  jmespath: async () => (await import('./jmespath.ts')).jmespath,
  lua: async () => (await import('./lua.ts')).lua,
  components: async () => (await import('./components.ts')).components,
  admin: async () => (await import('./admin.ts')).admin,
  redis: async () => (await import('./redis.ts')).redis,
  nats: async () => (await import('./nats.ts')).nats,
  amqp: async () => (await import('./amqp.ts')).amqp,
  otlp: async () => (await import('./otlp.ts')).otlp,
  'token-server': async () => (await import('./token-servers.ts')).tokenServer,
  'key-server': async () => (await import('./token-servers.ts')).keyServer,
  reload: async () => (await import('./reload.ts')).reload,
};
