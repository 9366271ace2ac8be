import { deepEqual, equal } from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { isInstalled } from '../../support/debian.ts';
import { startBackend } from '../../support/gateway.ts';
import { directConfig, Stage } from './setup.ts';

const executablePath = '/usr/bin/chromium';
const missing = isInstalled('chromium') ? '' : ': apt-get install chromium';

(missing ? describe.skip : describe)(`a browser that opens websockets${missing}`, function () {
  this.timeout(120_000);

  it('exchanges text and binary messages, reports close codes, and rejects pages of other origins', async () => {
    const stage = new Stage();
    const pages = await startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>page</title>');
    });
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
    try {
      const backend = await stage.backend({
        accepted: ({ socket }) =>
          socket.on('message', (data, isBinary) => {
            if (String(data) === 'close') socket.close(4001, 'enough');
            else socket.send(data, { binary: isBinary });
          }),
      });
      const config = (origin: string) =>
        directConfig(backend.url, { root: { extra_config: { 'security/cors': { allow_origins: [origin] } } } });
      await stage.start(config(pages.url));
      const page = await browser.newPage();
      await page.goto(pages.url);
      const run = (url: string) =>
        page.evaluate(
          (address) =>
            new Promise<unknown[]>((resolve) => {
              const seen: unknown[] = [];
              const socket = new WebSocket(address);
              socket.binaryType = 'arraybuffer';
              socket.onopen = () => {
                socket.send('hi');
                socket.send(new Uint8Array([0, 255]));
                socket.send('close');
              };
              socket.onmessage = ({ data }) =>
                seen.push(typeof data === 'string' ? data : [...new Uint8Array(data as ArrayBuffer)]);
              socket.onclose = ({ code, reason }) => resolve([...seen, code, reason]);
            }),
          url,
        );
      deepEqual(await run(stage.url('/chat/red')), ['hi', [0, 255], 4001, 'enough']);
      await stage.gateway.reload(config('https://other.example'));
      deepEqual(await run(stage.url('/chat/red')), [1006, '']);
      equal(backend.sockets.length, 1);
    } finally {
      await browser.close();
      await stage.close();
      await pages.close();
    }
  });
});
