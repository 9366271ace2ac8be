import { npmPackages } from '../programs.ts';
import { NO_MERGE, nodeServer, type Peer } from './peer.ts';

/** 5.0.1 depends on a version of fast-proxy-lite that is not in the registry: 3.4.7 is the newest that can be installed. */
export const fastGateway: Peer = {
  name: 'fast-gateway',
  scenarios: ['no-op', 'json', 'filter', 'json-64k'],
  cannot: NO_MERGE,
  install: () => npmPackages({ 'fast-gateway': '3.4.7' }),
  ofNode: true,
  arguments: nodeServer('fast-gateway'),
};
