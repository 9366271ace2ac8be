import type { Target } from '../target.ts';
import { admin } from './admin.ts';
import { amqp } from './amqp.ts';
import { cel } from './cel.ts';
import { components } from './components.ts';
import { configuration } from './configuration.ts';
import { exactJson } from './exact-json.ts';
import { grpcBackend } from './grpc-backend.ts';
import { grpcServer } from './grpc-server.ts';
import { httpServer } from './http-server.ts';
import { http1Responses } from './http1-responses.ts';
import { http2Server } from './http2-server.ts';
import { jmespath } from './jmespath.ts';
import { lua } from './lua.ts';
import { nats } from './nats.ts';
import { otlp } from './otlp.ts';
import { patterns } from './patterns.ts';
import { redis } from './redis.ts';
import { reload } from './reload.ts';
import { syntaxes } from './syntaxes.ts';
import { templates } from './templates.ts';
import { keyServer, tokenServer } from './token-servers.ts';
import { websocket } from './websocket.ts';

export const targets: readonly Target[] = [
  http1Responses,
  httpServer,
  http2Server,
  websocket,
  grpcBackend,
  grpcServer,
  exactJson,
  syntaxes,
  configuration,
  patterns,
  templates,
  cel,
  jmespath,
  lua,
  components,
  admin,
  redis,
  nats,
  amqp,
  otlp,
  tokenServer,
  keyServer,
  reload,
];
