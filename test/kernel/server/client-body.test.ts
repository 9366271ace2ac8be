import { deepEqual, equal, rejects } from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CancelledError } from '#contract';
import { PayloadTooLarge } from '../../../kernel/contract/internal.ts';
import { receiveBody } from '../../../kernel/server/request/body.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Calls that close a connection. */
class TestSocket extends EventEmitter {
  ended = 0;
  destroyed = false;
  readableEnded = false;
  end(): void {
    this.ended++;
  }
  resume(): void {}
  destroySoon(): void {}
  destroy(): void {
    this.destroyed = true;
  }
}

type Sent = IncomingMessage & PassThrough & { complete: boolean };
type Answered = ServerResponse & { headersSent: boolean; writableFinished: boolean };

describe('the body of a client request', () => {
  const sockets: TestSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.emit('close');
  });

  const send = (headers: object = { 'content-length': '5' }, more: object = {}) => {
    const socket = new TestSocket();
    sockets.push(socket);
    const message = Object.assign(new PassThrough(), {
      headers,
      complete: false,
      httpVersionMajor: 1,
      socket,
      ...more,
    });
    const response = Object.assign(new EventEmitter(), {
      headersSent: false,
      shouldKeepAlive: true,
      writableFinished: false,
    });
    message.on('error', () => {});
    return { socket, message: message as unknown as Sent, response: response as unknown as Answered };
  };

  const sent: [name: string, headers: object, more: object, length: number | undefined | null][] = [
    ['with a length', { 'content-length': '5' }, {}, 5],
    ['with the length 0', { 'content-length': '0' }, {}, null],
    ['in chunks', { 'transfer-encoding': 'chunked' }, {}, undefined],
    ['without length and chunks', {}, {}, null],
    ['of an HTTP/2 stream', {}, { httpVersionMajor: 2, stream: { endAfterHeaders: false } }, undefined],
    ['of an HTTP/2 stream that has ended', {}, { httpVersionMajor: 2, stream: { endAfterHeaders: true } }, null],
  ];
  for (const [name, headers, more, length] of sent) {
    it(`${name} ${length === null ? 'is null' : `has ${length === undefined ? 'an undefined length' : `the length ${length}`}`}`, () => {
      const { message, response } = send(headers, more);
      const body = receiveBody(message, response);
      equal(body ? body.length : null, length);
      body?.destroy();
    });
  }

  it('is read on demand, no faster than its consumer', async () => {
    const { message, response } = send();
    const body = receiveBody(message, response)!;
    message.write('x'.repeat(10));
    await turn();
    equal(message.readableFlowing, null);
    body.read(0);
    await turn();
    equal(message.isPaused(), false);
    message.write('x'.repeat(body.readableHighWaterMark));
    await turn();
    equal(message.isPaused(), true);
    const whole = text(body);
    message.end('end');
    equal((await whole).length, 10 + body.readableHighWaterMark + 3);
  });

  it('fails for its reader when the client disconnects', async () => {
    const { message, response } = send();
    const whole = text(receiveBody(message, response)!);
    message.write('half');
    message.destroy(new Error('gone'));
    await rejects(whole, CancelledError);
  });

  it('fails for its reader if the client has already disconnected', async () => {
    const { message, response } = send();
    const body = receiveBody(message, response)!;
    message.destroy();
    await rejects(text(body), CancelledError);
  });

  describe('that middleware has read', () => {
    it('is still complete for the gateway', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response, 100)!;
      (message as unknown as { push(chunk: string, encoding: string): void }).push('Zmlyc3Qg', 'base64');
      message.write('second ');
      let seen = '';
      message.on('data', (chunk) => {
        seen += chunk;
      });
      await turn();
      equal(seen, 'first second ');
      const whole = text(body);
      message.end('third');
      equal(await whole, 'first second third');
    });

    it('is still complete if middleware has read it to the end', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response, 5)!;
      message.end('hello');
      equal(await text(message), 'hello');
      equal(message.destroyed, true);
      equal(await text(body), 'hello');
    });

    it('is too large if it exceeds the buffer limit', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response, 4)!;
      message.end('hello');
      await text(message);
      await rejects(text(body), PayloadTooLarge);
    });

    it('fails if the client disconnected in the middle', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response, 100)!;
      message.write('half');
      await once(message, 'data');
      message.destroy();
      await rejects(text(body), CancelledError);
    });
  });

  describe('at the time when the response is about to be written', () => {
    it('is canceled, and its rest is dropped', async () => {
      const { socket, message, response } = send();
      const body = receiveBody(message, response)!;
      body.settle(false);
      equal(message.readableFlowing, true);
      await rejects(text(body), CancelledError);
      deepEqual([response.shouldKeepAlive, socket.ended], [true, 0]);
    });

    it('can still be read for a streamed response', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response)!;
      const whole = text(body);
      message.write('first ');
      body.settle(true);
      message.end('last');
      equal(await whole, 'first last');
    });

    it('is canceled if no reader has started, even for a streamed response', async () => {
      const { message, response } = send();
      const body = receiveBody(message, response)!;
      body.settle(true);
      await rejects(text(body), CancelledError);
    });

    it('causes the connection to be closed after the response if much of the body has not arrived', () => {
      for (const [length, keeps] of [
        [262_144, true],
        [262_145, false],
      ] as const) {
        const { socket, message, response } = send({ 'content-length': String(length) });
        receiveBody(message, response)!.settle(false);
        equal(response.shouldKeepAlive, keeps, String(length));
        socket.destroySoon();
        equal(socket.ended, keeps ? 0 : 1, String(length));
      }
    });

    it('keeps the connection if it is complete, or over HTTP/2', () => {
      for (const more of [{ complete: true }, { httpVersionMajor: 2 }]) {
        const { socket, message, response } = send({ 'content-length': '262145' }, more);
        receiveBody(message, response)!.settle(false);
        equal(response.shouldKeepAlive, true);
        response.writableFinished = true;
        message.write('x'.repeat(262_145));
        equal(socket.ended, 0);
      }
    });

    it('causes the connection to be closed after the response if the body never ends', async () => {
      const { socket, message, response } = send({ 'transfer-encoding': 'chunked' });
      receiveBody(message, response)!.settle(false);
      message.write('x'.repeat(262_144));
      await turn();
      deepEqual([socket.ended, message.isPaused()], [0, false]);
      message.write('x');
      await turn();
      deepEqual([socket.ended, message.isPaused()], [0, true]);
      response.emit('close');
      equal(socket.ended, 1);
    });

    it('causes the connection to be closed at once if the response has already been written', async () => {
      const { socket, message, response } = send({ 'transfer-encoding': 'chunked' });
      receiveBody(message, response)!.settle(false);
      response.writableFinished = true;
      message.write('x'.repeat(262_145));
      await turn();
      equal(socket.ended, 1);
    });
  });

  it('that is canceled is not read until the response head is written, and is then dropped', () => {
    const before = send();
    const early = receiveBody(before.message, before.response)!;
    early.read(0);
    early.destroy();
    equal(before.message.isPaused(), true);
    const behind = send();
    const late = receiveBody(behind.message, behind.response)!;
    late.read(0);
    behind.response.headersSent = true;
    late.destroy();
    equal(behind.message.readableFlowing, true);
  });
});
