import { createHash } from 'node:crypto';
import { type Call, HeaderBag, type Reply, type Site } from '#contract';
import { tokenRequest } from '../../clients/tokens/token-server.ts';
import { bytesOf } from '../../shared/calls/body.ts';
import { isLocal } from '../../shared/calls/local-url.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { Undecided, undecided } from '../lib/undecided.ts';
import { type Answer, readAnswer } from './answer.ts';
import type { ServerConfig } from './schema.ts';

/** Maximum size of a decoded response, in bytes. */
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 5000;

/** The introspection endpoint of an authorization server. */
export interface IntrospectionServer {
  /** Equal for the same endpoint and the same client. A hash, because it is part of the keys of stored values. */
  readonly identity: string;
  /** Requests the state of a token. @throws Undecided without a valid response; its message contains neither token nor secret. */
  ask(token: string, signal: AbortSignal): Promise<Answer>;
}

/** @throws ConfigError `INTROSPECTION_URL`, `INTROSPECTION_CLIENT`; warning `INTROSPECTION_INSECURE`. */
export function introspectionServer(site: Site<unknown>, config: ServerConfig): IntrospectionServer {
  const url = urlOf(site, config.introspection_url);
  const { fields, headers } = clientOf(site, config);
  const { token_type_hint: hint = 'access_token', timeout = TIMEOUT_MS } = config;
  const clock = site.use('clock');
  const send = site.http({
    ofService: true,
    followsRedirects: false,
    calls: [{ address: url.href, at: '/introspection_url' }],
  });
  const sent = [
    ...['User-Agent', `Sluice Version ${site.use('version')}`, 'Accept', 'application/json'],
    ...['Content-Type', 'application/x-www-form-urlencoded', ...headers],
  ];
  const exchange = async (token: string, call: Call): Promise<Answer> => {
    const requestedAt = clock.now();
    const form = new URLSearchParams({ token, ...(hint !== '' && { token_type_hint: hint }), ...fields });
    const reply = await send(tokenRequest(url, new HeaderBag(sent.slice()), form.toString()), call);
    if (reply.errors.length > 0) throw reply.errors[0]!;
    const text = await textOf(reply);
    return readAnswer(reply.status, reply.headers.get('content-type') ?? '', text, requestedAt);
  };
  return {
    identity: createHash('sha256')
      .update(JSON.stringify([url.href, fields, headers, hint]))
      .digest('base64'),
    async ask(token, signal) {
      try {
        return await underOwnCall(site.log, timeout, signal, (call) => exchange(token, call));
      } catch (error) {
        throw undecided(error as Error);
      }
    },
  };
}

function urlOf(site: Site<unknown>, written: string): URL {
  const url = URL.parse(written);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw site.fault('INTROSPECTION_URL', '/introspection_url', 'introspection_url is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw site.fault('INTROSPECTION_URL', '/introspection_url', 'introspection_url contains a user name or password', {
      hint: 'write them as client_id and client_secret',
    });
  }
  if (url.protocol === 'http:' && !isLocal(url)) {
    site.warn('INTROSPECTION_INSECURE', '/introspection_url', 'tokens and the client secret are sent without TLS', {
      hint: 'https://',
    });
  }
  return url;
}

/** Credentials of the gateway: form fields and headers of its requests. */
interface Client {
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: readonly string[];
}

function clientOf(site: Site<unknown>, config: ServerConfig): Client {
  const { client_auth_method: method = 'client_secret_basic', client_id: id, client_secret: secret } = config;
  const wanted = method === 'bearer' ? (['bearer_token'] as const) : (['client_id', 'client_secret'] as const);
  const missing = wanted.find((name) => config[name] === undefined);
  if (missing) {
    throw site.fault('INTROSPECTION_CLIENT', '', `"${missing}" is required with the authentication method ${method}`);
  }
  const all = ['bearer_token', 'client_id', 'client_secret'] as const;
  const extra = all.find((name) => config[name] !== undefined && !(wanted as readonly string[]).includes(name));
  if (extra) {
    throw site.fault(
      'INTROSPECTION_CLIENT',
      `/${extra}`,
      `${extra} has no effect with the authentication method ${method}`,
      {
        hint: `remove ${extra}, or set client_auth_method`,
      },
    );
  }
  if (method === 'bearer') return { fields: {}, headers: ['Authorization', `Bearer ${config.bearer_token!}`] };
  if (method === 'client_secret_post') return { fields: { client_id: id!, client_secret: secret! }, headers: [] };
  const pair = `${formEncoded(id!)}:${formEncoded(secret!)}`;
  return { fields: {}, headers: ['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`] };
}

/** Encodes a client ID or secret as OAuth requires it before the two are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

async function textOf(reply: Reply): Promise<string> {
  const bytes = await bytesOf(reply, MAX_BYTES);
  if (bytes.length > MAX_BYTES) throw new Undecided(`the response is larger than ${MAX_BYTES} bytes`, false);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
