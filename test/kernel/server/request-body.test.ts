import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { CallError, CancelledError, type RequestBody } from '#contract';
import { PayloadTooLarge } from '../../../kernel/contract/internal.ts';
import { limitBody } from '../../../kernel/server/request/body.ts';
import type { ClientBody } from '../../../kernel/server/request/client-body.ts';

/** A body with a content coding, and the headers that the pipeline receives. */
function limited(bytes: Buffer, coding: string | undefined, inflate: boolean, maxPayloadBytes = 0) {
  const source = Object.assign(Readable.from([bytes]), { length: bytes.length });
  const rawHeaders = ['Content-Length', String(bytes.length), 'X-A', '1'];
  if (coding !== undefined) rawHeaders.push('CONTENT-ENCODING', coding);
  const headers = { ...(coding !== undefined && { 'content-encoding': coding }) };
  const message = { headers, rawHeaders } as unknown as IncomingMessage;
  const body = limitBody(source as unknown as ClientBody, message, {
    ...{ maxPayloadBytes, inflate },
    maxParsedBytes: 0,
  });
  return { source, body, rawHeaders };
}

const textOf = async (body: RequestBody): Promise<string> => Buffer.from(await body.bytes()).toString();

describe('a request body under the limits of an endpoint', () => {
  const packed = gzipSync('hello');
  const length = String(packed.length);

  for (const [name, coding, inflate] of [
    ['that does not inflate', 'gzip', false],
    ['when it has another coding first', 'br, gzip', true],
    ['when it has no coding', undefined, true],
  ] as const) {
    it(`is unchanged under an endpoint ${name}`, async () => {
      const { body, rawHeaders } = limited(packed, coding, inflate);
      equal(body.length, packed.length);
      deepEqual(rawHeaders.slice(0, 4), ['Content-Length', length, 'X-A', '1']);
      deepEqual(await body.bytes(), packed);
    });
  }

  it('is decompressed, with matching headers', async () => {
    for (const coding of ['gzip', ' GZip ']) {
      const { body, rawHeaders } = limited(packed, coding, true);
      equal(body.length, undefined);
      deepEqual(rawHeaders, ['X-A', '1']);
      equal(await textOf(body), 'hello');
    }
  });

  it('keeps the other content encodings after gzip has been removed', () => {
    deepEqual(limited(packed, 'gzip, br , x', true).rawHeaders, ['X-A', '1', 'Content-Encoding', 'br, x']);
  });

  it('is read only on demand', () => {
    const { source } = limited(packed, 'gzip', true);
    equal(source.readableFlowing, null);
    equal(source.listenerCount('data') + source.listenerCount('readable'), 0);
  });

  it('is limited before and after decompression', async () => {
    throws(() => limited(Buffer.from('hello'), undefined, false, 4).body.take(), PayloadTooLarge);
    equal(await textOf(limited(packed, 'gzip', true, 5).body), 'hello');
    await rejects(textOf(limited(packed, 'gzip', true, 4).body), PayloadTooLarge);
  });

  it('is never decompressed to more than 64 MB', async () => {
    await rejects(textOf(limited(gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1)), 'gzip', true).body), PayloadTooLarge);
  });

  it('is rejected with 400 if it is not gzip', async () => {
    for (const bytes of [Buffer.from('hello'), packed.subarray(0, 10)]) {
      await rejects(textOf(limited(bytes, 'gzip', true).body), (error: CallError) => {
        equal(error instanceof CallError && error.code, 'REQUEST_GZIP');
        equal(error.view?.status, 400);
        return true;
      });
    }
  });

  it('fails with the error of the source', async () => {
    const { source, body } = limited(packed, 'gzip', true);
    const whole = textOf(body);
    source.destroy(new CancelledError());
    await rejects(whole, CancelledError);
  });
});
