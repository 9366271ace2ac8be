import { npmPackages } from '../programs.ts';
import { NO_MERGE, nodeServer, type Peer, STREAMED } from './peer.ts';

export const httpProxy: Peer = {
  name: 'http-proxy',
  scenarios: ['no-op', 'json', 'filter', 'json-64k', ...STREAMED],
  cannot: NO_MERGE,
  install: () => npmPackages({ 'http-proxy': '1.18.1' }),
  ofNode: true,
  arguments: nodeServer('http-proxy'),
};
