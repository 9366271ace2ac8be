import type { Dialect } from './hostile.ts';

/** A Redis server that responds to scripts with 1, and to everything else with OK. */
export const redisDialect: Dialect = (socket, say) => {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (;;) {
      const count = Number(/^\*(\d+)\r\n/.exec(text)?.[1] ?? Number.NaN);
      if (Number.isNaN(count)) return;
      let at = text.indexOf('\r\n') + 2;
      const words: string[] = [];
      for (let word = 0; word < count; word++) {
        const head = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20));
        if (!head || text.length < at + head[0].length + Number(head[1]) + 2) return;
        at += head[0].length;
        words.push(text.slice(at, at + Number(head[1])));
        at += Number(head[1]) + 2;
      }
      text = text.slice(at);
      const name = words[0]!.toUpperCase();
      say(name.startsWith('EVAL') ? ':1\r\n' : name === 'PING' ? '+PONG\r\n' : '+OK\r\n');
    }
  });
};

/** A NATS server that confirms published messages. */
export const natsDialect: Dialect = (socket, say) => {
  say('INFO {"server_id":"a","version":"2.9.0","proto":1,"headers":true,"max_payload":1048576}\r\n');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      if (/^PING/i.test(line)) say('PONG\r\n');
    }
  });
};

/** A request to an HTTP/1.1 server. */
export interface HttpMessage {
  /** Request line and headers. */
  readonly head: string;
  readonly body: string;
}

/** A server that responds to every HTTP/1.1 request with 200. @param body of the response. */
export const httpDialect = (
  body: string | ((message: HttpMessage) => string),
  headers = 'Content-Type: application/json',
): Dialect => {
  const answer = (message: HttpMessage): string => {
    const text = typeof body === 'string' ? body : body(message);
    return `HTTP/1.1 200 OK\r\n${headers}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  };
  return (socket, say) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (;;) {
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = text.slice(0, end + 2);
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        const message = { head, body: text.slice(end + 4, end + 4 + length) };
        text = text.slice(end + 4 + length);
        say(answer(message));
      }
    });
  };
};

const method = (channel: number, id: string, args = ''): Buffer => {
  const payload = Buffer.from(id + args, 'hex');
  const head = Buffer.alloc(7);
  head[0] = 1;
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.of(0xce)]);
};

/** Responses of an AMQP 0-9-1 broker, by class and method. */
const amqpAnswers: Readonly<Record<string, readonly [id: string, args: string]>> = {
  // Response to start-ok: tune, with 100 channels, frames of 131072 bytes, no heartbeat.
  '000a000b': ['000a001e', '0064000200000000'],
  '000a0028': ['000a0029', '00'],
  '000a0032': ['000a0033', ''],
  '0014000a': ['0014000b', '00000000'],
  '00140028': ['00140029', ''],
  '0028000a': ['0028000b', ''],
  '0032000a': ['0032000b', '01610000000000000000'],
  '00320014': ['00320015', ''],
  '0055000a': ['0055000b', ''],
  '003c000a': ['003c000b', ''],
  '003c0014': ['003c0015', '0161'],
};

/** An AMQP 0-9-1 broker that confirms every message. */
export const amqpDialect: Dialect = (socket, say) => {
  let bytes: Buffer = Buffer.alloc(0);
  let isGreeted = false;
  /** Number of messages by channel. */
  const published = new Map<number, number>();
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isGreeted) {
      if (bytes.length < 8) return;
      isGreeted = true;
      bytes = bytes.subarray(8);
      // AMQP's connection.start: protocol version 0-9, no properties, authentication with PLAIN, language en_US.
      say(method(0, '000a000a', '00090000000000000005504c41494e00000005656e5f5553'));
    }
    while (bytes.length >= 8) {
      const length = 8 + bytes.readUInt32BE(3);
      if (bytes.length < length) return;
      const [type, channel] = [bytes[0]!, bytes.readUInt16BE(1)];
      const id = bytes.subarray(7, 11).toString('hex');
      bytes = bytes.subarray(length);
      const answer = type === 1 ? amqpAnswers[id] : undefined;
      if (answer) say(method(channel, ...answer));
      // The count is reset, because messages of a new channel are numbered from 1.
      if (id === '0014000a') published.delete(channel);
      // The body of a message, which the broker confirms.
      if (type !== 3) continue;
      const tag = (published.get(channel) ?? 0) + 1;
      published.set(channel, tag);
      say(method(channel, '003c0050', `${tag.toString(16).padStart(16, '0')}00`));
    }
  });
};
