import {
  atEndpoint,
  type Call,
  type CallError,
  type ClientRequest,
  type DataObject,
  definePlugin,
  discard,
  type EndpointSite,
  getKey,
  HeaderBag,
  httpSigners,
  isObject,
  printJson,
  Reply,
  refuse,
  type Step,
  setKey,
} from '#contract';
import { checkKeyFields } from '../../clients/keys/check-fields.ts';
import { keyAggregators } from '../../clients/keys/key-aggregator.ts';
import { type SignerConfig, schema } from './schema.ts';
import { openSigningKey } from './signing-key.ts';
import { tokenMaker } from './token.ts';

/**
 * Replaces objects in the response with tokens signed by a key of the gateway. Returns 400 if the response is not
 * complete, and 401 for every request until a key is available.
 *
 * Configuration faults: those of `openSigningKey` and `checkKeyFields`; a warning `SIGNER_OUTPUT`.
 */
export const plugin = definePlugin({
  name: 'auth/signer',
  description: 'Signs tokens from the response of a login backend.',
  oldFields: { 'jwk-url': 'jwk_url', 'keys-to-sign': 'keys_to_sign' },
  leaves: ['requests'],
  takes: [httpSigners, keyAggregators],
  places: [
    atEndpoint(schema, (site) => {
      checkFields(site);
      const { config } = site;
      const log = site.log.at('[JWTSigner]');
      const signing = openSigningKey(site, log);
      if (!signing) {
        log.warning('Unable to create the signer: jwk_url is not secure');
        return { endpoint: () => () => refuse(401), terminal: true };
      }
      log.debug('Signer enabled');
      const makeToken = tokenMaker(config);
      const endpoint = (next: Step<ClientRequest>) => async (request: ClientRequest, call: Call) => {
        const { key } = signing;
        if (!key) return refuse(401);
        const reply = await next(request, call);
        // The request was rejected by an inner component, such as a rate limit, before any backend was called.
        if (reply.complete === null) return reply;
        const { data } = reply;
        if (reply.errors.length > 0 || !reply.complete || data === null) {
          discard(reply.body);
          log.error(() => causeOf(reply));
          return refuse(400);
        }
        try {
          return tokensIn(data, config.keys_to_sign, (claims) => makeToken(claims, key), reply);
        } catch (error) {
          log.error(() => `Signing fields: ${(error as Error).message}`);
          return refuse(400);
        }
      };
      return { endpoint, readsData: true };
    }),
  ],
});

/** Builds the reply with the tokens. */
function tokensIn(
  data: DataObject,
  names: readonly string[],
  tokenOf: (claims: DataObject) => string,
  { status, headers }: Reply,
): Reply {
  const signed = names.reduce((whole, name) => {
    return withToken(whole, Object.hasOwn(data, name) ? [name] : name.split('.'), tokenOf);
  }, data);
  const first = new HeaderBag();
  for (const [name, value] of headers) if (!first.has(name.toLowerCase())) first.append(name, value);
  first.set('Content-Type', 'application/json; charset=utf-8');
  first.set('Cache-Control', 'no-store');
  const reply = Reply.raw(status, first, Buffer.from(printJson(signed)));
  reply.complete = null;
  return reply;
}

/** Replaces the object at a path with its token. The given data is not changed: the objects on the path are copied. */
function withToken(data: DataObject, path: readonly string[], tokenOf: (claims: DataObject) => string): DataObject {
  const [step, ...rest] = path as [string, ...string[]];
  const value = getKey(data, step);
  if (!isObject(value)) return data;
  const copy = { ...data };
  setKey(copy, step, rest.length === 0 ? tokenOf(value) : withToken(value, rest, tokenOf));
  return copy;
}

function causeOf({ errors, data }: Reply): string {
  if (errors.length > 0) return `Proxy response: ${errors.map((error: CallError) => error.message).join('; ')}`;
  return data === null ? 'Empty proxy response' : 'Proxy response: the response is incomplete';
}

/** Warns of settings without effect. */
function checkFields(site: EndpointSite<SignerConfig>): void {
  checkKeyFields(site);
  const { output_encoding: output } = site.endpoint;
  if (output !== 'json') {
    site.warn('SIGNER_OUTPUT', '', `the response is JSON: output_encoding "${output}" has no effect`, {
      hint: '"output_encoding": "json"',
    });
  }
}
