import { findProgram, goProgram, outputOf } from '../programs.ts';
import { paths } from '../work.ts';
import { BYTES_ONLY, type Peer, STREAMED } from './peer.ts';

const VERSION = '2.11.9';

export const caddy: Peer = {
  name: 'caddy',
  scenarios: ['no-op', ...STREAMED],
  cannot: BYTES_ONLY,
  async install() {
    const path = findProgram('caddy');
    if (path === undefined) return goProgram('caddy', 'github.com/caddyserver/caddy/v2/cmd/caddy', VERSION);
    return { path, version: (await outputOf(path, ['version'])).split(' ', 1)[0]!.replace(/^v/, '') };
  },
  files: ({ scenario, port, upstream }) => ({
    Caddyfile: `{
  admin off
  auto_https off
  persist_config off
  log {
    level ERROR
  }
}
http://127.0.0.1:${port} {
  bind 127.0.0.1
  handle /bench/${scenario} {
    rewrite * ${paths[scenario]![0]}
    reverse_proxy ${new URL(upstream).host}
  }
}
`,
  }),
  arguments: ({ folder }) => ['run', '--adapter', 'caddyfile', '--config', `${folder}/Caddyfile`],
};
