import { ownVersion } from '../programs.ts';
import { COLLECTED, nodeServer, type Peer } from './peer.ts';

/** Both packages are dependencies of the project: nothing is installed. */
export const koaGot: Peer = {
  name: 'koa-got',
  scenarios: COLLECTED,
  cannot: 'it collects the bodies',
  install: async () => ({ path: '', version: `${ownVersion('koa')}/${ownVersion('got')}` }),
  ofNode: true,
  arguments: nodeServer('koa-got'),
};
