import { deepEqual, equal, ok } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BackendError, ByteStream, type Encoding, HeaderBag, type Log, Reply, refuse } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type Decoding, decoded } from '../../../kernel/pipeline/backend/decode.ts';
import { newCall, pipeRequest } from './requests.ts';

const json: Encoding = { name: 'json', decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) };

/** The result of decoding a response. */
async function read(raw: Reply, decoding: Partial<Decoding> = {}, origin = 'http://a:1', call = newCall()) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warning: (line) => void warnings.push(String(line)) };
  const all = {
    encoding: json,
    asCollection: false,
    shape: null,
    pass: null,
    isPart: false,
    name: 'GET /p',
    log,
    ...decoding,
  };
  const request = pipeRequest();
  request.origin = origin;
  request.target = '/p?q';
  const reply = await decoded(all, () => raw)(request, call);
  return { reply, warnings, errors: reply.errors.map((error) => [error.code, error.message]) };
}

const respond = (body: Reply['body'], headers: string[] = [], status = 200) =>
  Reply.raw(status, new HeaderBag(headers), body);

describe('decoding a backend response', () => {
  it('is skipped for replies that are already decoded, rejections and failures', async () => {
    const failed = respond(Buffer.from('{}'));
    failed.errors = [new BackendError('TEST', 'it broke')];
    const data = Reply.data({ a: 1 });
    data.status = 404;
    for (const raw of [data, refuse(204), failed]) equal((await read(raw)).reply, raw);
  });

  it('fails for every status except 200 and 201, with an error that names the status', async () => {
    for (const status of [200, 201]) deepEqual((await read(respond(Buffer.from('{}'), [], status))).reply.data, {});
    const { reply, warnings, errors } = await read(respond(null, [], 404));
    deepEqual(errors, [['BACKEND_STATUS', 'invalid status code 404 [GET /p]: http://a:1/p?q']]);
    deepEqual([warnings, reply.upstreamStatus], [['Status: 404'], 404]);
  });

  it('does not log user and password of the address', async () => {
    for (const [origin, shown] of [
      ['http://me:secret@a:1', 'http://a:1'],
      ['https://me@b@a:1', 'https://a:1'],
    ] as const) {
      const { errors } = await read(respond(null, [], 500), {}, origin);
      ok(errors[0]![1]!.endsWith(`: ${shown}/p?q`), errors[0]![1]);
    }
  });

  it('discards the body of any other status', async () => {
    const reported: string[] = [];
    const body = new ByteStream({ cancel: (reason) => void reported.push(reason.message) });
    await read(respond(body, [], 500));
    body.write(Buffer.alloc(70_000));
    deepEqual(reported, ['context canceled']);
  });

  it('decompresses gzip, with its name in any letter case', async () => {
    const packed = gzipSync('{"a":1}');
    deepEqual((await read(respond(packed, ['Content-Encoding', 'GZIP']))).reply.data, { a: 1 });
  });

  it('fails for bytes that are declared as gzip but are not', async () => {
    const { errors } = await read(respond(Buffer.from('{}'), ['Content-Encoding', 'gzip']));
    deepEqual(errors, [['BACKEND_GZIP', 'backend: body is not valid gzip: incorrect header check']]);
  });

  it('fails for a body whose decompressed size exceeds the limit', async () => {
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1, 32));
    const { errors } = await read(respond(packed, ['Content-Encoding', 'gzip']));
    equal(errors[0]![0], 'BACKEND_GZIP');
  });

  it("fails with the parser's error as the cause", async () => {
    const { reply, errors } = await read(respond(Buffer.from('no')));
    equal(errors[0]![0], 'BACKEND_BODY');
    ok(errors[0]![1]!.startsWith('Unexpected token'));
    ok(reply.errors[0]!.cause instanceof SyntaxError);
    const own = new BackendError('BACKEND_OWN', 'it says so itself');
    const decode = () => {
      throw own;
    };
    equal((await read(respond(Buffer.from('')), { encoding: { name: 'own', decode } })).reply.errors[0], own);
  });

  it('fails if the body breaks off, with the reason of a cancellation if there is one', async () => {
    const broken = new ByteStream();
    const reading = read(respond(broken));
    broken.fail(new Error('reset'));
    deepEqual((await reading).errors, [['BACKEND_BODY', 'reset']]);
    const left = new ByteStream();
    const call = newCall();
    const leaving = read(respond(left), {}, undefined, call);
    call.cancel();
    left.fail(new Error('reset'));
    deepEqual((await leaving).errors, [['CALL_CANCELLED', 'context canceled']]);
  });

  it('applies the shaping settings, and marks the reply as complete unless the result is null', async () => {
    const shape = (data: object) => ({ shaped: data as never });
    const { reply } = await read(respond(Buffer.from('{}')), { shape });
    deepEqual([reply.data, reply.complete], [{ shaped: {} }, true]);
    const nothing = await read(respond(Buffer.from('null')), { shape });
    deepEqual([nothing.reply.data, nothing.reply.complete], [null, false]);
  });

  it('is skipped for bytes that only needed validation', async () => {
    const passing = (empty: boolean): Encoding => ({
      ...json,
      passes: (bytes) => (bytes.length === 0 ? null : { contentType: 'text/x', body: bytes, empty }),
    });
    const passingBy = (encoding: Encoding) => ({ encoding, pass: encoding.passes! });
    const { reply } = await read(respond(Buffer.from('{}'), [], 201), passingBy(passing(false)));
    deepEqual(
      [reply.status, [...reply.headers], reply.complete, reply.data],
      [200, [['Content-Type', 'text/x']], true, null],
    );
    const empty = await read(respond(Buffer.from('{}')), passingBy(passing(true)));
    equal(empty.reply.complete, false);
    const part = await read(respond(Buffer.from('{}')), { ...passingBy(passing(true)), isPart: true });
    equal(part.reply.complete, true);
    const unproven = await read(respond(null), {
      ...passingBy(passing(true)),
      encoding: { ...json, decode: () => ({ a: 1 }) },
    });
    deepEqual(unproven.reply.data, { a: 1 });
  });

  it('validates an unchanged buffer once, and a stream each time', async () => {
    let proofs = 0;
    const passes = (bytes: Uint8Array) => {
      proofs++;
      return { contentType: 'text/x', body: bytes, empty: false };
    };
    const held = Buffer.from('{}');
    const streamed = () => {
      const body = new ByteStream();
      body.write(held);
      body.end();
      return body;
    };
    let body: Reply['body'] = held;
    const decoding = { encoding: json, asCollection: false, shape: null, pass: passes, isPart: false };
    const step = decoded({ ...decoding, name: 'GET /p', log: silentLog }, () => respond(body));
    const ask = async () => (await step(pipeRequest(), newCall())).body;
    deepEqual([await ask(), await ask(), proofs], [held, held, 1]);
    body = streamed();
    await ask();
    body = streamed();
    deepEqual([await ask(), proofs], [held, 3]);
  });
});
