import { npmPackages } from '../programs.ts';
import { NO_MERGE, nodeServer, type Peer } from './peer.ts';

export const fastifyHttpProxy: Peer = {
  name: '@fastify/http-proxy',
  scenarios: ['no-op', 'json', 'filter', 'json-64k'],
  cannot: NO_MERGE,
  install: () => npmPackages({ '@fastify/http-proxy': '11.6.3', fastify: '5.12.8' }),
  ofNode: true,
  arguments: nodeServer('fastify-http-proxy'),
};
