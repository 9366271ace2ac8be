import { deepEqual, equal, match } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Operations } from '#kernel';
import {
  rememberingSinks,
  type SeenRequest,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';

const variables = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/no/such/file',
  AWS_SHARED_CREDENTIALS_FILE: '/no/such/file',
};

/**
 * Sets environment variables.
 * @returns a function that restores them.
 */
function setEnvironment(given: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.fromEntries(Object.keys(given).map((name) => [name, process.env[name]]));
  const apply = (all: typeof given) => {
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(given);
  return () => apply(before);
}

describe('backend/lambda in a gateway', () => {
  let stub: TestBackend;
  let gateway: Operations;
  let restore: () => void;
  let answer: (seen: SeenRequest, response: ServerResponse) => void;
  const ok = '{"ok":true}';
  let sinks: ReturnType<typeof rememberingSinks>;

  beforeEach(async () => {
    restore = setEnvironment({ ...variables, AWS_REGION: undefined, AWS_DEFAULT_REGION: undefined });
    sinks = rememberingSinks();
    answer = (_seen, response) => response.end(ok);
    stub = await startBackend((seen, response) => answer(seen, response));
  });
  afterEach(async () => {
    await gateway?.close();
    await stub.close();
    restore();
  });

  const start = async (lambda: object, more: { endpoint?: object; backend?: object } = {}) => {
    gateway = await startGateway(
      {
        endpoints: [
          {
            endpoint: '/x/{userId}',
            ...more.endpoint,
            backend: [
              {
                url_pattern: '/',
                ...more.backend,
                extra_config: { 'backend/lambda': { region: 'eu-west-1', endpoint: stub.url, ...lambda } },
              },
            ],
          },
        ],
      },
      { sinks },
    );
  };
  const ask = (url = '/x/7', options: object = {}) => gateway.inject({ url, ...options });
  const last = () => stub.requests.at(-1)!;

  it("sends the parameters or the body, depending on the client's method, if the endpoint serves every method", async () => {
    await start({ function_name: 'f1' }, { endpoint: { method: 'ANY' } });
    await ask();
    equal(last().body.toString(), '{"userid":"7"}');
    await ask('/x/7', { method: 'PUT', payload: '{"a":1}' });
    equal(last().body.toString(), '{"a":1}');
  });

  it('invokes a function with the path parameters, their names in lowercase', async () => {
    await start({ function_name: 'f1' }, { endpoint: { input_query_strings: ['*'] } });
    deepEqual((await ask('/x/7?q=1')).json(), { ok: true });
    const { method, target, headers, body } = last();
    deepEqual([method, target, String(body)], ['POST', '/2015-03-31/functions/f1/invocations', '{"userid":"7"}']);
    deepEqual([headers['x-amz-invocation-type'], headers['x-amz-log-type']], ['RequestResponse', 'None']);
  });

  for (const [what, payload] of [
    ['a body', '{"a":1}'],
    ['a body that is not valid JSON', '\u0000 b'],
    ['an empty body', ''],
  ] as const) {
    it(`sends ${what} unchanged for methods other than GET`, async () => {
      await start({ function_name: 'f1' }, { endpoint: { method: 'POST', endpoint: '/x' } });
      equal((await ask('/x', { method: 'POST', payload })).statusCode, 200);
      equal(String(last().body), payload);
    });
  }

  it('reads the function name from a path parameter', async () => {
    await start({ function_param_name: 'Lambda' }, { endpoint: { endpoint: '/call/{lambda}' } });
    await ask('/call/my-fn');
    equal(last().target, '/2015-03-31/functions/my-fn/invocations');
  });

  it('reads the function name from the path parameter {function} by default, URL-encoded, in its original case', async () => {
    await start({}, { endpoint: { endpoint: '/call/{function}' } });
    await ask('/call/arn:aws:lambda:eu-west-1:1:function:F');
    equal(last().target, '/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-west-1%3A1%3Afunction%3AF/invocations');
    await ask('/call/..%2f..%2fsecret').catch(() => {});
    match(last().target, /^\/2015-03-31\/functions\/[^/]+\/invocations$/);
  });

  for (const [what, body, expected] of [
    ['a list', '[1,2]', '{"collection":[1,2]}'],
    ['a string', '"a"', '{"content":"a"}'],
    ['a number with all its digits', '12345678901234567890', '{"content":12345678901234567890}'],
    ['null', 'null', '{"content":null}'],
    ['a response envelope as plain data', '{"statusCode":404,"body":"x"}', '{"statusCode":404,"body":"x"}'],
  ] as const) {
    it(`returns ${what}`, async () => {
      answer = (_seen, response) => response.end(body);
      await start({ function_name: 'f1' });
      const { statusCode, body: given } = await ask();
      deepEqual([statusCode, given], [200, expected]);
    });
  }

  for (const [what, body] of [
    ['nothing', ''],
    ['invalid JSON', '<html>'],
  ] as const) {
    it(`fails for a function that returns ${what}`, async () => {
      answer = (_seen, response) => response.end(body);
      await start({ function_name: 'f1' });
      equal((await ask()).statusCode, 500);
    });
  }

  it('fails for a function that throws, and logs the error', async () => {
    answer = (_seen, response) => {
      response.setHeader('X-Amz-Function-Error', 'Unhandled');
      response.end('{"errorMessage":"secret detail","errorType":"TypeError"}');
    };
    await start({ function_name: 'f1' });
    equal((await ask()).statusCode, 500);
    const lines = sinks.lines.filter((line) => line.includes('WARNING'));
    equal(lines.length, 1);
    match(lines[0]!, /\[Lambda\] f1: the function has failed, TypeError/);
  });

  for (const [retries, status, calls] of [
    [2, 200, 3],
    [-1, 200, 3],
    [1, 500, 2],
    [0, 500, 1],
  ] as const) {
    it(`makes ${calls} calls with max_retries ${retries} if the first two calls fail`, async () => {
      answer = (_seen, response) => {
        response.statusCode = stub.requests.length <= 2 ? (stub.requests.length === 1 ? 500 : 429) : 200;
        response.end(ok);
      };
      await start({ function_name: 'f1', max_retries: retries });
      deepEqual([(await ask()).statusCode, stub.requests.length], [status, calls]);
    });
  }

  for (const [status, headers, code] of [
    [404, { 'x-amzn-ErrorType': 'ResourceNotFoundException:http://x' }, 'ResourceNotFoundException'],
    [403, {}, 'AccessDenied'],
  ] as const) {
    it(`does not retry after ${status}, and logs the error of AWS`, async () => {
      answer = (_seen, response) => response.writeHead(status, headers).end('{"__type":"AccessDenied"}');
      await start({ function_name: 'f1', max_retries: 3 });
      deepEqual([(await ask()).statusCode, stub.requests.length], [500, 1]);
      match(sinks.lines.filter((line) => line.includes('WARNING'))[0]!, new RegExp(`status ${status}, ${code}`));
    });
  }

  it('retries if the connection breaks', async () => {
    answer = (_seen, response) => {
      if (stub.requests.length === 1) response.destroy();
      else response.end(ok);
    };
    await start({ function_name: 'f1', max_retries: 1 });
    equal((await ask()).statusCode, 200);
  });

  it('applies response manipulation like any backend', async () => {
    answer = (_seen, response) => response.end('{"data":{"a":1,"b":2}}');
    await start({ function_name: 'f1' }, { backend: { group: 'fn', target: 'data', allow: ['a'], encoding: 'xml' } });
    deepEqual((await ask()).json(), { fn: { a: 1 } });
  });

  it('signs requests for its region and the service "lambda", and forwards no client headers', async () => {
    await start({ function_name: 'f1' }, { endpoint: { input_headers: ['*'] } });
    await ask('/x/7', { headers: { 'x-own': '1', 'x-amz-date': 'x', cookie: 'a=1' } });
    const { headers } = last();
    match(
      headers.authorization!,
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-invocation-type;x-amz-log-type, /,
    );
    deepEqual([headers['x-own'], headers.cookie, headers.host], [undefined, undefined, stub.host]);
    match(headers['x-amz-date'] as string, /^\d{8}T\d{6}Z$/);
  });

  it('returns the executed version of the function', async () => {
    answer = (_seen, response) => response.writeHead(200, { 'X-Amz-Executed-Version': '7' }).end(ok);
    await start({ function_name: 'f1' });
    equal((await ask()).headers['x-amz-executed-version'], '7');
  });

  it('fails without calling AWS if the request contains no function name', async () => {
    await start({ function_param_name: 'other' });
    deepEqual([(await ask()).statusCode, stub.requests.length], [500, 0]);
  });

  it('uses the region of the environment by default', async () => {
    process.env['AWS_REGION'] = 'us-west-2';
    await start({ function_name: 'f1', region: undefined });
    await ask();
    match(last().headers.authorization!, /us-west-2\/lambda/);
  });

  for (const [what, given, message] of [
    ['credentials', { AWS_ACCESS_KEY_ID: undefined }, /no AWS credentials/],
    ['a region', {}, /no AWS region/],
    ['a valid region', { AWS_REGION: 'us west' }, /"us west" is not a valid AWS region/],
  ] as const) {
    it(`fails without ${what}, calls no function, and logs the reason once`, async () => {
      const back = setEnvironment(given);
      await start({ function_name: 'f1', ...(what !== 'credentials' && { region: undefined }) });
      deepEqual([(await ask()).statusCode, (await ask()).statusCode, stub.requests.length], [500, 500, 0]);
      const lines = sinks.lines.filter((line) => line.includes('[Lambda]') && line.includes('ERROR'));
      equal(lines.length, 1);
      match(lines[0]!, message);
      back();
    });
  }

  it('times out with the backend, even while it waits between two attempts', async () => {
    answer = (_seen, response) => response.writeHead(500).end();
    await start({ function_name: 'f1', max_retries: 10 }, { backend: { timeout: '300ms' } });
    equal((await ask()).statusCode, 500);
    equal(stub.requests.length < 6, true);
  });
});
