import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A port whose server never accepts: once its queue is full, connections to it are never opened and never refused. */
export interface UnacceptingServer {
  readonly port: number;
  close(): Promise<void>;
}

const program = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
    process.exit();
  });
`;

/** Opens a port that never accepts on the loopback address, and fills its queue. */
export async function startUnaccepting(): Promise<UnacceptingServer> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(program, { eval: true, workerData: gate });
  const [port] = (await once(thread, 'message')) as [number];
  const queued: Socket[] = [];
  // Opens two connections, because a queue with a length of 1 holds two.
  for (const _place of [1, 2]) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    queued.push(socket);
    await once(socket, 'connect');
  }
  return {
    port,
    async close() {
      for (const socket of queued) socket.destroy();
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      await once(thread, 'exit');
    },
  };
}
