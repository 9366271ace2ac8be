import type Koa from 'koa';
import type { Data } from '#contract';
import { ConfigText, decodeText, type Format, formatNameOf, parseJson } from '#kernel';
import type { Admin } from './operation.ts';
import { Problem } from './problem.ts';

/** Configuration format for a media type; undefined for any other media type. */
function formatOfType(mediaType: string): Format | undefined {
  return configTypes.includes(mediaType) ? (mediaType.slice('application/'.length) as Format) : undefined;
}

/** Media types of a configuration. */
const configTypes: readonly string[] = ['application/json', 'application/yaml', 'application/toml'];

/** A configuration file from a multipart form. */
export interface FormFile {
  readonly format: Format;
  readonly bytes: Uint8Array;
}

/**
 * The only file of a `multipart/form-data` body. Its format is given by its content type, or else by its file name.
 * @throws Problem bad-request for any other body, and for several files, which a configuration cannot refer to;
 * unsupported-media-type.
 */
async function singleFile(body: Uint8Array, contentType: string): Promise<FormFile> {
  const [file, ...others] = await filesOf(body, contentType);
  if (!file) throw new Problem('bad-request', 'the form contains no file');
  if (others.length > 0) {
    const names = others.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new Problem('bad-request', `a configuration is a single file: ${names} cannot be uploaded with it`);
  }
  const type = file.type.split(';')[0]!.trim();
  const format = formatOfType(type) ?? formatNameOf(file.name);
  if (!format) throw new Problem('unsupported-media-type', `${JSON.stringify(file.name)} is not JSON, YAML or TOML`);
  return { format, bytes: await file.bytes() };
}

async function filesOf(body: Uint8Array, contentType: string): Promise<File[]> {
  let form: FormData;
  try {
    form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new Problem('bad-request', 'the body is not multipart/form-data');
  }
  return [...form].map(([name, value]) => (typeof value === 'string' ? new File([value], name) : value));
}

/** The body of a request. */
export interface Body {
  /** Media type in lower case, without parameters. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

const MULTIPART = 'multipart/form-data';

/** Media types in which a configuration can be sent. */
export const acceptedConfigs: readonly string[] = [...configTypes, MULTIPART];

const bodies = new WeakMap<Koa.Context, Promise<Body | null>>();

/**
 * Reads the body, once.
 * @param accepted media types.
 * @returns null without a body.
 * @throws Problem unsupported-media-type, payload-too-large.
 */
export function readBody(ctx: Koa.Context, { settings }: Admin, accepted: readonly string[]): Promise<Body | null> {
  let body = bodies.get(ctx);
  if (!body) {
    body = takeBody(ctx, settings.max_body, accepted);
    bodies.set(ctx, body);
  }
  return body;
}

async function takeBody(ctx: Koa.Context, limitBytes: number, accepted: readonly string[]): Promise<Body | null> {
  const { 'content-length': length, 'transfer-encoding': encoding } = ctx.headers;
  if (encoding === undefined && Number(length ?? 0) === 0) return null;
  const mediaType = mediaTypeOf(ctx, accepted);
  if (Number(length ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const bytes = await collect(ctx, limitBytes);
  return bytes.length === 0 ? null : { mediaType, bytes };
}

/** Reads a body of one of the types; a missing body is read as empty. @throws Problem as `readBody`. */
export async function demandBody(ctx: Koa.Context, admin: Admin, accepted: readonly string[]): Promise<Body> {
  return (await readBody(ctx, admin, accepted)) ?? { mediaType: accepted[0]!, bytes: new Uint8Array() };
}

/**
 * Reads a JSON body.
 * @throws Problem as `readBody`; ConfigErrors for invalid UTF-8, invalid JSON or a duplicate key.
 */
export async function demandJson(ctx: Koa.Context, admin: Admin, accepted = ['application/json']): Promise<Data> {
  const { bytes } = await demandBody(ctx, admin, accepted);
  return parseJson(decodeText(bytes, 'body.json'), 'body.json');
}

/** Reads a configuration; a missing body is read as an empty configuration. @throws Problem as `readBody`; ConfigErrors. */
export async function demandConfigBody(ctx: Koa.Context, admin: Admin): Promise<ConfigText> {
  return (await readConfigBody(ctx, admin)) ?? new ConfigText('', 'json');
}

/** Reads a configuration. @returns null without a body. @throws Problem as `readBody`; ConfigErrors. */
export async function readConfigBody(ctx: Koa.Context, admin: Admin): Promise<ConfigText | null> {
  const body = await readBody(ctx, admin, acceptedConfigs);
  if (!body) return null;
  const { format, bytes } =
    body.mediaType === MULTIPART
      ? await singleFile(body.bytes, ctx.get('content-type'))
      : { format: formatOfType(body.mediaType)!, bytes: body.bytes };
  return new ConfigText(decodeText(bytes, `configuration.${format}`), format);
}

function mediaTypeOf(ctx: Koa.Context, accepted: readonly string[]): string {
  const [name = '', ...parameters] = ctx.get('content-type').split(';');
  const mediaType = name.trim().toLowerCase();
  if (!accepted.includes(mediaType)) throw unsupported(ctx, mediaType, accepted);
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]*)/i.exec(text)?.[1]).find(Boolean);
  if (charset && !/^utf-?8$/i.test(charset)) {
    throw new Problem('unsupported-media-type', `the body must be UTF-8, not ${charset}`);
  }
  if (!['', 'identity'].includes(ctx.get('content-encoding').toLowerCase())) {
    throw new Problem('unsupported-media-type', 'the body must not be compressed');
  }
  return mediaType;
}

/** Response headers that list the media types a method accepts (RFC 5789, Linked Data Platform). */
export const acceptHeaders: Readonly<Record<string, string>> = { PATCH: 'Accept-Patch', POST: 'Accept-Post' };

function unsupported(ctx: Koa.Context, mediaType: string, accepted: readonly string[]): Problem {
  const headers = { [acceptHeaders[ctx.method] ?? 'Accept']: accepted.join(', ') };
  const match = mediaType || 'none';
  return new Problem('unsupported-media-type', `Content-Type must be ${accepted.join(', ')}, but is ${match}`, {
    headers,
  });
}

async function collect(ctx: Koa.Context, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // The rest of the body is discarded after the response, which needs the connection.
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(limitBytes: number): Problem {
  return new Problem('payload-too-large', `the body is larger than ${limitBytes} bytes`);
}
