import { outputOf, requireProgram } from '../programs.ts';
import { paths } from '../work.ts';
import type { Peer } from './peer.ts';

/** Reads the same configuration as this gateway. */
export const krakend: Peer = {
  name: 'krakend',
  scenarios: Object.keys(paths),
  cannot: '',
  async install() {
    const path = requireProgram('krakend', 'put the binary of its release on the PATH');
    const version = /([\d.]+\d)/.exec(await outputOf(path, ['version']))?.[1] ?? 'of unknown version';
    return { path, version };
  },
  arguments: ({ configFile }) => ['run', '-c', configFile],
};
