import { equal } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { freePort, until } from '../../support/conditions.ts';
import { INSTALLATION_MS, isInstalled } from '../../support/debian.ts';
import { startGateway } from '../../support/gateway.ts';

const title = 'HTTP/2 towards nginx (apt-get install nginx)';

describe(title, () => {
  let made: Certificates;
  let folder: string;
  let nginx: ChildProcess;
  let gateway: Operations;
  let plain: number;
  let secure: number;

  before(async function () {
    this.timeout(INSTALLATION_MS);
    if (!isInstalled('nginx')) return this.skip();
    made = makeCertificates();
    const authority = made.authority('authority');
    const { certificate, privateKey } = made.issue('server', authority);
    folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'));
    [plain, secure] = [await freePort(), await freePort()];
    const server = (listen: string, more: string) =>
      `server { listen 127.0.0.1:${listen}; ${more}
         location / { add_header X-Protocol $server_protocol; return 200 '{"host":"$host","length":"$content_length"}'; } }`;
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
       events { worker_connections 256; }
       http { access_log off; default_type application/json; keepalive_requests 50;
         client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
         uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
         ${server(`${plain} http2`, '')}
         ${server(`${secure} ssl http2`, `ssl_protocols TLSv1.3; ssl_certificate ${certificate}; ssl_certificate_key ${privateKey};`)} }`,
    );
    nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
    for (const port of [plain, secure]) await until(() => isListening(port));
    const client = { 'backend/http/client': { http2: true, client_tls: { ca_certs: [authority.certificate] } } };
    const endpoint = (path: string, host: string) => ({
      endpoint: path,
      method: 'POST',
      output_encoding: 'no-op',
      backend: [{ host: [host], url_pattern: '/', encoding: 'no-op', extra_config: client }],
    });
    gateway = await startGateway({
      version: 3,
      endpoints: [endpoint('/plain', `http://127.0.0.1:${plain}`), endpoint('/secure', `https://localhost:${secure}`)],
    });
  });
  after(async () => {
    await gateway?.close();
    if (nginx) {
      nginx.kill();
      await once(nginx, 'exit');
      rmSync(folder, { recursive: true });
    }
    made?.remove();
  });

  for (const path of ['/plain', '/secure']) {
    it(`loses none of 500 requests to ${path} if nginx closes each connection after 50 requests`, async () => {
      const ask = async () => {
        const { statusCode, headers, body } = await gateway.inject({ method: 'POST', url: path, payload: '12345' });
        equal(statusCode, 200, body);
        equal(headers['x-protocol'], 'HTTP/2.0');
        equal(JSON.parse(body).length, '5');
      };
      for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 50 }, ask));
    });
  }
});

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
