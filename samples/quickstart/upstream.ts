import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

const users: Readonly<Record<string, object>> = {
  '1': { id: 1, name: 'Ada', email: 'ada@example.test', company: { id: 7, name: 'Engines' } },
  '2': { id: 2, name: 'Grace', email: 'grace@example.test', company: { id: 8, name: 'Compilers' } },
};

const posts = [
  { id: 10, title: 'Notes', draft: false },
  { id: 11, title: 'Bernoulli numbers', draft: true },
];

/** Access tokens, with what an authorization server says about them. */
const tokens: Readonly<Record<string, object>> = {
  'sample-token-of-ada': { active: true, sub: '1', scope: 'orders:read', client_id: 'shop' },
};

const cart = { items: 3, total: 59.97, currency: 'EUR' };

/** Request to the example upstream: the segments of its path, and its whole body. */
interface Asked {
  readonly path: readonly string[];
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

type Answering = (asked: Asked, response: ServerResponse) => void | Promise<void>;

/** Number of requests to `/flaky`, of which every other one fails, beginning with the first. */
let flakyRequests = 0;

/** Providers of models that respond with 503. */
const downModels = new Set<string>();

/** Resources by method and first segment of the path. */
const resources: Readonly<Record<string, Answering>> = {
  'GET users': ({ path: [, id = '', part] }, response) => {
    const parts: Readonly<Record<string, unknown>> = { posts, cart };
    answer(response, users[id] && (part === undefined ? users[id] : parts[part]));
  },
  'GET companies': ({ path: [, id] }, response) =>
    answer(response, { id: Number(id), city: id === '7' ? 'London' : 'Arlington' }),
  'GET orders': ({ path: [, id = ''] }, response) => answer(response, users[id] && { id: Number(id), total: 59.97 }),
  'POST orders': ({ body }, response) => answer(response, { order: 1001, received: JSON.parse(body) }, 201),
  'GET owners': ({ path: [, id = ''] }, response) => answer(response, users[id] && { user: Number(id) }),
  'GET cities': ({ path: [, city] }, response) => answer(response, { city, celsius: 31.5, sky: 'clear' }),
  'GET flaky': (_asked, response) => {
    const isUp = flakyRequests++ % 2 === 1;
    answer(response, isUp ? { up: true } : { error: 'try again' }, isUp ? 200 : 503);
  },
  'GET countries': (_asked, response) => answer(response, { name: 'Spain' }),
  'GET currencies': (_asked, response) => answer(response, { code: 'EUR' }),
  'POST countries': (_asked, response) => {
    response.setHeader('Content-Type', 'text/xml');
    response.end(
      '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><m:CapitalCityResponse xmlns:m="http://www.oorsprong.org/websamples.countryinfo"><m:CapitalCityResult>Madrid</m:CapitalCityResult></m:CapitalCityResponse></soap:Body></soap:Envelope>',
    );
  },
  'GET verify': ({ headers }, response) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    if (tokens[token]) response.setHeader('X-User', '1');
    else response.setHeader('WWW-Authenticate', 'Bearer');
    answer(response, {}, tokens[token] ? 200 : 401);
  },
  'POST introspect': ({ body }, response) =>
    answer(response, tokens[new URLSearchParams(body).get('token') ?? ''] ?? { active: false }),
  // Returns the same vector for two texts with the same long words.
  'POST embeddings': ({ body }, response) => {
    const embedding = Array.from({ length: 64 }, () => 0);
    for (const word of String(JSON.parse(body).input)
      .toLowerCase()
      .match(/[a-z]{5,}/g) ?? []) {
      embedding[[...word].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 64, 0)] = 1;
    }
    answer(response, { data: [{ embedding }] });
  },
  'POST graphql': ({ body }, response) => {
    const { variables } = JSON.parse(body);
    if (variables.review) answer(response, { data: { createReview: { stars: variables.review.stars } } });
    else answer(response, { data: { hero: { name: variables.episode === 'JEDI' ? 'R2-D2' : 'Luke' } } });
  },
  'POST 2015-03-31': ({ path, body }, response) => answer(response, { function: path[2], event: JSON.parse(body) }),
  // Providers of models: `/models/NAME/v1/responses` as OpenAI, `/models/NAME/v1/messages` as Anthropic.
  'POST models': ({ path: [, name = '', ...action] }, response) => {
    const text = `from ${name}`;
    const usage = { input_tokens: 40, output_tokens: 60 };
    const actions: Readonly<Record<string, () => unknown>> = {
      down: () => ({ down: downModels.add(name).has(name) }),
      up: () => ({ up: downModels.delete(name) }),
      'v1/responses': () => ({
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
        usage: { ...usage, total_tokens: 100 },
      }),
      'v1/messages': () => ({ stop_reason: 'end_turn', content: [{ type: 'text', text }], usage }),
    };
    const isDown = downModels.has(name) && action.length > 1;
    answer(response, isDown ? { error: { code: 'overloaded' } } : actions[action.join('/')]?.(), isDown ? 503 : 200);
  },
  'GET news': (_asked, response) => {
    response.setHeader('Content-Type', 'application/rss+xml');
    response.end(
      '<rss version="2.0"><channel><title>Engines</title><item><title>First program</title><link>https://news.example.test/1</link></item></channel></rss>',
    );
  },
  'GET lines': async (_asked, response) => {
    response.setHeader('Content-Type', 'application/x-ndjson');
    for (const count of [1, 2, 3]) {
      response.write(`{"count":${count},"secret":"x"}\n`);
      await delay(100);
    }
    response.end();
  },
  'GET frames': async (_asked, response) => {
    response.setHeader('Content-Type', 'application/vnd.amazon.eventstream');
    for (const count of [1, 2, 3]) {
      response.write(frameOf(`{"count":${count},"secret":"x"}`));
      await delay(100);
    }
    response.end();
  },
  'GET events': async (_asked, response) => {
    response.setHeader('Content-Type', 'text/event-stream');
    for (const count of [1, 2, 3]) {
      response.write(`data: {"count":${count},"secret":"x"}\n\n`);
      await delay(100);
    }
    response.end();
  },
};

/** Small API for the samples to call. `/echo/…` answers with the request that it received; unknown paths get 404. */
export function createUpstream(): Server {
  return createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, searchParams: query } = new URL(request.url!, 'http://upstream');
    const path = pathname.split('/').slice(1);
    if (path[0] === 'echo') {
      const { headers } = request;
      answer(response, { path: pathname, query: Object.fromEntries(query), headers, body });
      return;
    }
    const resource = resources[`${request.method} ${path[0]}`];
    if (resource) await resource({ path, body, headers: request.headers }, response);
    else answer(response, undefined);
  });
}

/** A frame of an AWS event stream: its lengths, their checksum, the headers, the payload, and the checksum of the frame. */
function frameOf(payload: string): Buffer {
  const [name, type] = [':content-type', 'application/json'];
  const text = 7;
  const headers = Buffer.from([name.length, ...Buffer.from(name), text, 0, type.length, ...Buffer.from(type)]);
  const lengths = Buffer.concat([uint32(16 + headers.length + payload.length), uint32(headers.length)]);
  const frame = Buffer.concat([lengths, uint32(crc32(lengths)), headers, Buffer.from(payload)]);
  return Buffer.concat([frame, uint32(crc32(frame))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function answer(response: ServerResponse, data: unknown, status = 200): void {
  const isFound = data !== undefined;
  response.writeHead(isFound ? status : 404, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(isFound ? data : { error: 'not found' }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  createUpstream().listen(8081, '127.0.0.1', () =>
    console.log('the example upstream listens on http://127.0.0.1:8081'),
  );
}
