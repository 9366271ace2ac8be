import { resources, small } from './payloads.ts';

export const NGINX_ADVICE = 'apt-get install nginx-light';

/** Arguments that start nginx in the foreground with the configuration in a folder. */
export function nginxArguments(folder: string): readonly string[] {
  return ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
}

/** A configuration with one worker and no access log, which keeps all its files in its folder. @param http inside `http {}`. */
export function nginxConfiguration(http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `daemon off;
worker_processes 1;
pid nginx.pid;
${process.getuid?.() === 0 ? 'user root;\n' : ''}events { worker_connections 4096; }
http {
access_log off;
${temporary.join('\n')}
keepalive_requests 1000000000;
keepalive_timeout 1h;
${http}
}
`;
}

/** nginx as the backend: serves the same bytes and headers as upstream.ts, from files that stay open. */
export function nginxBackend(port: number): Readonly<Record<string, string>> {
  const server = `default_type application/json;
etag off;
open_file_cache max=100;
output_buffers 2 128k;
server {
  listen 127.0.0.1:${port} backlog=4096;
  root files;
  add_header ETag '"fixed"';
  location = /kept { add_header ETag '"fixed"'; add_header Cache-Control 'public, max-age=86400'; }
  location / { try_files $uri /small; }
}`;
  const files = Object.entries({ ...resources, '/kept': small }).map(([path, data]) => [
    `files${path}`,
    JSON.stringify(data),
  ]);
  return { 'nginx.conf': nginxConfiguration(server), ...Object.fromEntries(files) };
}
