import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { start } from './children.ts';

/** Source of a server that accepts every request and responds to its body with `answer`. */
const program = (answer: string) => `
const answer = ${answer};
require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-User': 'ada' });
    response.end(JSON.stringify(answer(body)));
  });
}).listen(Number(process.argv[1]), '127.0.0.1');
`;

/** URLs of the servers, by their source. */
const started = new Map<string, string>();

/** URL of a server, which is started on first use and ends with the benchmark. @param answer source of a function of the body. */
export function answering(folder: string, answer: string): string {
  const known = started.get(answer);
  if (known !== undefined) return known;
  // A port that no other benchmark uses at the same time, because it depends on the process ID.
  const port = 30_000 + started.size * 10_000 + (process.pid % 10_000);
  start([process.execPath, '-e', program(answer), String(port)], join(folder, `answering-${started.size}.log`));
  waitFor(port);
  const url = `http://127.0.0.1:${port}`;
  started.set(answer, url);
  return url;
}

/** Waits for the server, because a gateway that cannot connect to it would reject the first request. @throws Error after a minute. */
function waitFor(at: number): void {
  const connecting = `until (exec 3<>/dev/tcp/127.0.0.1/${at}) 2>/dev/null; do sleep 0.01; done`;
  const { status } = spawnSync('bash', ['-c', connecting], { stdio: 'ignore', timeout: 60_000 });
  if (status !== 0) throw new Error(`the server of the benchmark does not respond on port ${at}`);
}
