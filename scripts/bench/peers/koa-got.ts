import { ownVersion } from '../programs.ts';
import { paths } from '../work.ts';
import { nodeServer, type Peer } from './peer.ts';

/** Both are packages that the project has anyway: nothing is installed. */
export const koaGot: Peer = {
  name: 'koa-got',
  scenarios: Object.keys(paths),
  cannot: '',
  install: async () => ({ path: '', version: `${ownVersion('koa')}/${ownVersion('got')}` }),
  ofNode: true,
  arguments: nodeServer('koa-got'),
};
