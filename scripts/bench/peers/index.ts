import { caddy } from './caddy.ts';
import { expressGateway } from './express-gateway.ts';
import { fastGateway } from './fast-gateway.ts';
import { fastifyHttpProxy } from './fastify-http-proxy.ts';
import { goFloor } from './go-floor.ts';
import { httpProxy } from './http-proxy.ts';
import { koaGot } from './koa-got.ts';
import { krakend } from './krakend.ts';
import { nginx } from './nginx.ts';
import type { Peer } from './peer.ts';

export const peers: readonly Peer[] = [
  goFloor,
  nginx,
  caddy,
  krakend,
  fastifyHttpProxy,
  fastGateway,
  httpProxy,
  koaGot,
  expressGateway,
];
