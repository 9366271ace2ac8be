import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from './children.ts';

/** Source of a server that accepts every request, responds to its body with `answer`, and writes its port to a file. */
const program = (answer: string) => `
const answer = ${answer};
const { renameSync, writeFileSync } = require('node:fs');
const [, file] = process.argv;
require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-User': 'ada' });
    response.end(JSON.stringify(answer(body)));
  });
}).listen(0, '127.0.0.1', function () {
  writeFileSync(file + '.new', String(this.address().port));
  renameSync(file + '.new', file);
});
`;

/** URLs of the servers, by their source. */
const started = new Map<string, string>();

/** URL of a server, which is started on first use and ends with the benchmark. @param answer source of a function of the body. */
export function answering(folder: string, answer: string): string {
  const known = started.get(answer);
  if (known !== undefined) return known;
  const name = join(folder, `answering-${started.size}`);
  start([process.execPath, '-e', program(answer), `${name}.port`], `${name}.log`);
  const url = `http://127.0.0.1:${portIn(`${name}.port`)}`;
  started.set(answer, url);
  return url;
}

/**
 * Waits for a server to write its port, because a gateway that cannot connect to it would reject the first request.
 * @throws Error after a minute.
 */
function portIn(file: string): string {
  const waiting = 'until [ -e "$0" ]; do sleep 0.01; done';
  const { status } = spawnSync('bash', ['-c', waiting, file], { stdio: 'ignore', timeout: 60_000 });
  if (status !== 0) throw new Error('the server of the benchmark did not start');
  return readFileSync(file, 'utf8');
}
