import type { ServerResponse } from 'node:http';
import { connect, createServer } from 'node:net';
import { atEndpoint, definePlugin } from '#contract';
import { main } from '../../kernel/cli/main.ts';
import type { StartAdmin } from '../../kernel/index.ts';
import { catalogue } from '../../plugins/index.ts';

/** Throws an uncaught error, like a bug in the gateway. */
const acts: Readonly<Record<string, (response: ServerResponse) => void>> = {
  timer: () => setTimeout(fail),
  tick: () => process.nextTick(fail),
  promise: () => void Promise.reject(new Error('planted')),
  socket: () => {
    const server = createServer((socket) => {
      server.close();
      socket.on('error', () => {}).end('x');
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      connect(port, '127.0.0.1').on('data', fail);
    });
  },
  finish: (response) => response.once('finish', fail),
  midway: (response) => {
    const timer = setInterval(() => {
      if (!response.headersSent) return;
      clearInterval(timer);
      fail();
    });
  },
};

function fail(): never {
  throw new Error('planted');
}

const plugin = definePlugin({
  name: 'test/faulty',
  description: 'Has bugs.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      endpoint: (next) => async (request, call) => {
        const act = request.query.get('act');
        if (act) acts[act]!(request.raw!.response);
        if (act && act !== 'finish' && act !== 'midway') await new Promise(() => {});
        const reply = await next(request, call);
        reply.headers.set('X-Pid', String(process.pid));
        return reply;
      },
    })),
  ],
});

const plugins = { ...catalogue.plugins, [plugin.name]: async () => ({ plugin }) };
const startAdmin: StartAdmin = async (...args) => (await import('../../admin/index.ts')).startAdmin(...args);
const [, program, ...args] = process.argv as [string, string, ...string[]];
const { stdout, stderr, env } = process;
process.exitCode = await main(args, {
  stdout,
  stderr,
  env,
  signals: process,
  exit: (code) => process.exit(code),
  program,
  catalogue: { ...catalogue, plugins },
  startAdmin,
});
setTimeout(() => process.exit(), 1000).unref();
