import { deepEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import WebSocket from 'ws';
import { freePort, until } from '../../../support/conditions.ts';
import { PluginFolder } from '../../../support/plugin-folder.ts';

const source = `import { after, atEndpoint, definePlugin, type Plugin } from 'sluice/plugin';

interface Team {
  readonly name: string;
}

export const plugin: Plugin = definePlugin({
  name: 'acme/team',
  contract: 1,
  description: 'Names the team.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      endpoint: after((reply) => {
        const team: Team = { name: 'accounts' };
        reply.headers.set('X-Team', team.name);
      }),
    })),
  ],
});
`;

/** A message of the inspector. */
// biome-ignore lint/suspicious/noExplicitAny: the protocol has no types here
type Result = Record<string, any>;

/** A session with the inspector of a process. */
class Session {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number | string, (value: Result) => void>();
  #next = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text) => {
      const { id, method, params, result } = JSON.parse(String(text));
      const key = id ?? method;
      this.#waiting.get(key)?.(result ?? params);
      this.#waiting.delete(key);
    });
  }

  send(method: string, params: object = {}): Promise<Result> {
    const id = this.#next++;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return this.once(id);
  }

  once(key: number | string): Promise<Result> {
    return new Promise((resolve) => this.#waiting.set(key, resolve));
  }

  close(): void {
    this.#socket.terminate();
  }
}

describe('a gateway with the Node.js inspector', () => {
  let folder: PluginFolder;
  let gateway: ChildProcess;

  beforeEach(() => {
    folder = new PluginFolder();
  });
  afterEach(async () => {
    const ended = once(gateway, 'close');
    gateway.kill('SIGKILL');
    await ended;
    folder.remove();
  });

  it('stops at breakpoints in TypeScript plugins, on their source lines', async () => {
    const file = folder.write('plugins/team.ts', source);
    const port = await freePort();
    const document = {
      version: 3,
      port,
      listen_ip: '127.0.0.1',
      plugin: { folder: `${folder.path}plugins/` },
      endpoints: [
        {
          endpoint: '/a',
          extra_config: { 'acme/team': {} },
          backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
        },
      ],
    };
    const config = folder.write('gateway.json', JSON.stringify(document));
    gateway = spawn(process.execPath, ['--inspect=127.0.0.1:0', 'kernel/bin.ts', 'run', '-c', config], {
      env: { ...process.env, GATEWAY_ADMIN_LISTEN: 'off' },
    });
    let printed = '';
    const address = await new Promise<string>((resolve) => {
      gateway.stderr!.on('data', (chunk) => {
        printed += chunk;
        const [found] = /ws:\/\/\S+/.exec(printed) ?? [];
        if (found) resolve(found);
      });
    });
    gateway.stdout!.resume();
    const socket = new WebSocket(address);
    await once(socket, 'open');
    const session = new Session(socket);
    await session.send('Debugger.enable');
    const line = source.split('\n').findIndex((text) => text.includes('reply.headers.set'));
    // The breakpoint is set before the file is loaded, and applies to every later content.
    await session.send('Debugger.setBreakpointByUrl', { url: pathToFileURL(file).href, lineNumber: line });
    const paused = session.once('Debugger.paused');
    const asked = new AbortController();
    await until(async () => (await fetch(`http://127.0.0.1:${port}/__health`).catch(() => null))?.ok === true);
    fetch(`http://127.0.0.1:${port}/a`, { signal: asked.signal }).catch(() => {});
    const { callFrames, hitBreakpoints } = await paused;
    const { result } = await session.send('Debugger.evaluateOnCallFrame', {
      callFrameId: callFrames[0].callFrameId,
      expression: 'team.name',
    });
    deepEqual([callFrames[0].location.lineNumber, hitBreakpoints.length, result.value], [line, 1, 'accounts']);
    asked.abort();
    session.close();
  }).timeout(120_000);
});
