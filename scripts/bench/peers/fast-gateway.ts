import { npmPackages } from '../programs.ts';
import { NO_MERGE, nodeServer, type Peer } from './peer.ts';

export const fastGateway: Peer = {
  name: 'fast-gateway',
  scenarios: ['no-op', 'json', 'filter', 'json-64k'],
  cannot: NO_MERGE,
  install: () => npmPackages({ 'fast-gateway': '3.4.7' }),
  ofNode: true,
  arguments: nodeServer('fast-gateway'),
};
