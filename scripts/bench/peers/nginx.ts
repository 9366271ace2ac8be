import { NGINX_ADVICE, nginxArguments, nginxConfiguration } from '../nginx.ts';
import { outputOf, requireProgram } from '../programs.ts';
import { paths } from '../work.ts';
import { BYTES_ONLY, type Peer, STREAMED } from './peer.ts';

export const nginx: Peer = {
  name: 'nginx',
  scenarios: ['no-op', ...STREAMED],
  cannot: BYTES_ONLY,
  async install() {
    const path = requireProgram('nginx', NGINX_ADVICE);
    const version = /nginx\/(\S+)/.exec(await outputOf(path, ['-v']))?.[1] ?? 'of unknown version';
    return { path, version };
  },
  files: ({ scenario, port, upstream }) => ({
    'nginx.conf': nginxConfiguration(`upstream backend {
  server ${new URL(upstream).host};
  keepalive 256;
  keepalive_requests 1000000000;
}
server {
  listen 127.0.0.1:${port} backlog=4096;
  location = /bench/${scenario} {
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_request_buffering off;
    client_max_body_size 0;
    proxy_pass http://backend${paths[scenario]![0]};
  }
}`),
  }),
  arguments: ({ folder }) => nginxArguments(folder),
};
