import got from 'got';
import Koa, { type Context } from 'koa';
import { changes, type Data, paths } from '../../work.ts';

const [, scenario = '', port, upstream = ''] = process.argv.slice(2);
const urls = paths[scenario]!.map((path) => upstream + path);
const change = changes[scenario];
const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

async function pass(context: Context): Promise<void> {
  const { statusCode, headers, rawBody } = await got(urls[0]!, { decompress: false, throwHttpErrors: false });
  context.status = statusCode;
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP.has(name)) context.set(name, value);
  context.body = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.length);
}

async function collect(context: Context): Promise<void> {
  const objects = await Promise.all(urls.map((url) => got(url).json<Data>()));
  context.body = change ? change(objects[0]!) : Object.assign({}, ...objects);
}

const app = new Koa();
app.use(change || urls.length > 1 ? collect : pass);
app.listen(Number(port), '127.0.0.1');
