import {
  type AtEndpoint,
  before,
  type Call,
  type CallError,
  type ClientRequest,
  defineSlot,
  type EndpointSite,
  isHeaderName,
  isHopByHop,
  offer,
  type PipeRequest,
  Reply,
  refuse,
  toCallError,
} from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import { checkKeyFields } from '../../clients/keys/check-fields.ts';
import { openKeys } from '../../clients/keys/keys.ts';
import { connectionNamed } from '../../clients/redis/port.ts';
import { during } from '../../shared/calls/during.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { localNonces, nonceName, redisNonces } from '../lib/nonces.ts';
import { Undecided, undecidedSettler } from '../lib/undecided.ts';
import { signatureAlgorithms } from './algorithms.ts';
import { isComponent, type Message, signatureBase } from './base.ts';
import { hasDigest } from './digest.ts';
import type { VerifyConfig } from './schema.ts';
import { readBytes, readInputs, type SignatureInput } from './structured.ts';

/** Maximum age of downloaded keys, and time for which an unknown key is not looked up again, in milliseconds. */
const KEYS_MS = 900_000;
const COOLDOWN_MS = 10_000;
/** Maximum size of a body that is compared with its digest if the service has no body limit, in bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Slot with the ID of the key that has signed the request. */
const keyIdSlot = defineSlot<string>('http signature');

/** Verifies the signature of each request. */
export function verifying(site: EndpointSite<VerifyConfig>): AtEndpoint {
  const { config } = site;
  const components = check(site);
  const keys = openKeys(site, config, { strategy: 'kid', maxAgeMs: KEYS_MS, cooldownMs: COOLDOWN_MS });
  // If keys are missing, `check` has already reported it.
  if (!keys) return { endpoint: before(() => refuse(401)), terminal: true };
  const log = site.log.at('[HTTPSignatures]');
  const header = config.key_id_header;
  const lowerHeader = header.toLowerCase();
  const { kind, verify } = algorithm(config.alg);
  const isFresh = nonceCheck(site);
  const refused = (why: string): Reply => {
    log.debug(() => `request rejected: ${why}`);
    return refuse(401);
  };

  const admit = async (request: ClientRequest, call: Call): Promise<Reply | undefined> => {
    const { headers } = request;
    if (header !== '') headers.delete(lowerHeader);
    const inputs = readInputs(headers.getAll('signature-input').join(', '));
    const signatures = readBytes(headers.getAll('signature').join(', '));
    if (!inputs || !signatures) return refused('the signature headers are malformed');
    const found = choose(inputs, config.tag);
    if (typeof found === 'string') return refused(found);
    const [label, input] = found;
    const signature = signatures.get(label);
    const keyId = input.params.get('keyid');
    if (!signature || typeof keyId !== 'string') return refused('the signature or its key ID is missing');
    const wrong = unsuitable(input, config, components, request.body !== null);
    if (wrong !== null) return refused(wrong);
    const made = signatureBase(input.components, input.text, messageOf(request));
    if ('missing' in made) return refused(`the request does not have the signed component ${made.missing}`);
    const key = await during(call, Promise.resolve(keys.find(keyId)));
    if (!key?.verifying || key.kind !== kind) return refused('the key of the signature is unknown');
    if (!verify(made.base, signature, key.verifying)) return refused('the signature is not valid');
    if (request.body !== null && config.require_content_digest && !(await isUnchanged(request))) {
      return refused('the body does not match the signed digest');
    }
    const objection = isFresh && (await isFresh(keyId, input, call));
    if (objection) return typeof objection === 'string' ? refused(objection) : objection;
    call.set(keyIdSlot, keyId);
    if (header !== '' && /^[\x20-\x7e]*$/.test(keyId)) headers.set(header, keyId);
    return undefined;
  };

  const endpoint = before<ClientRequest>((request, call) =>
    admit(request, call).catch((error) => Reply.failed((call.reason ?? toCallError(error)) as CallError)),
  );
  if (header === '') return { endpoint };
  const proxy = before<PipeRequest>((request) => {
    const keyId = request.client.headers.get(lowerHeader);
    if (keyId !== undefined) request.headers.set(header, keyId);
  });
  return { endpoint, proxy, sets: [header], offers: [offer(personalHeaders, [header])] };
}

/** Chooses the signature to verify: the only one with the tag. Returns the reason if no signature has it, or several do. */
function choose(inputs: ReadonlyMap<string, SignatureInput>, tag: string): [string, SignatureInput] | string {
  const suiting = [...inputs].filter(([, { params }]) => tag === '' || params.get('tag') === tag);
  if (suiting.length === 1) return suiting[0]!;
  return suiting.length === 0 ? 'the signature is missing' : 'several signatures are present';
}

/** Returns why a signature is not acceptable, regardless of the key; null if it is acceptable. */
function unsuitable(
  { components, params }: SignatureInput,
  config: VerifyConfig,
  required: readonly string[],
  hasBody: boolean,
): string | null {
  const covered = new Set(components.map(({ identifier }) => identifier));
  const digest = hasBody && config.require_content_digest ? ['"content-digest"'] : [];
  const missing = [...required, ...digest].find((identifier) => !covered.has(identifier));
  if (missing !== undefined) return `the signature does not cover ${missing}`;
  const alg = params.get('alg');
  if (alg !== undefined && alg !== signatureAlgorithms[config.alg])
    return 'the signature has another algorithm than configured';
  const now = Date.now();
  const created = params.get('created');
  if (typeof created !== 'number') return 'the signature has no creation time';
  if (created * 1000 > now + config.leeway) return 'the signature was created in the future';
  if (created * 1000 + config.max_age + config.leeway < now) return 'the signature is too old';
  const expires = params.get('expires');
  if (params.has('expires') && !(typeof expires === 'number' && expires * 1000 + config.leeway > now)) {
    return 'the signature has expired';
  }
  return null;
}

/** Checks a nonce. Returns the reason why the nonce is not acceptable, or the rejection of a request whose nonce cannot be checked; undefined for an acceptable nonce. */
type CheckNonce = (keyId: string, input: SignatureInput, call: Call) => Promise<string | Reply | undefined>;

/** Checks nonces of valid signatures only, so that others cannot fill the memory; null if they are not required. */
function nonceCheck(site: EndpointSite<VerifyConfig>): CheckNonce | null {
  const { config } = site;
  if (!config.require_nonce) return null;
  const source = config.jwk_url ?? config.jwk_local_path ?? '';
  const { connection_name: name } = config;
  const take =
    name === undefined ? localNonces(site, source) : redisNonces(connectionNamed(site, name, '/connection_name'));
  const settle = undecidedSettler(config, 'HTTP_SIGNATURES_FAILED', site.log.at('[HTTPSignatures]'), site.use('clock'));
  const lifeMs = config.max_age + 2 * config.leeway;
  return async (keyId, { params }, call) => {
    const nonce = params.get('nonce');
    if (typeof nonce !== 'string' || nonce === '') return 'the signature has no nonce';
    try {
      return (await take(nonceName(source, keyId, nonce), lifeMs, call))
        ? undefined
        : 'the nonce of the signature was used before';
    } catch (error) {
      if (!(error instanceof Undecided) || call.reason) throw error;
      return settle(error);
    }
  };
}

function messageOf({ method, secure, host, path, search, headers }: ClientRequest): Message {
  return { method, scheme: secure ? 'https' : 'http', host, path, search, headers };
}

async function isUnchanged({ body, headers }: ClientRequest): Promise<boolean> {
  body!.restrict(MAX_BODY_BYTES);
  return hasDigest(await body!.bytes(), headers.getAll('content-digest').join(', '));
}

/** Checks the configuration. @returns the serialized identifiers of the required components. */
function check(site: EndpointSite<VerifyConfig>): readonly string[] {
  const { required_components: components, key_id_header: header } = site.config;
  checkKeyFields(site);
  checkNonceFields(site);
  const index = components.findIndex((name) => !isComponent(name));
  if (index >= 0) {
    const message = `"${components[index]}" is not a supported component`;
    throw site.fault('HTTP_SIGNATURES_COMPONENT', `/required_components/${index}`, message, {
      hint: 'lowercase header names, @method, @authority, @scheme, @target-uri, @request-target, @path, @query',
    });
  }
  if (header !== '' && (!isHeaderName(header) || isHopByHop(header.toLowerCase()))) {
    throw site.fault('HTTP_SIGNATURES_HEADER', '/key_id_header', `"${header}" is not a valid header name`);
  }
  return components.map((name) => `"${name}"`);
}

/** @throws ConfigError HTTP_SIGNATURES_NONCE for settings without an effect. */
function checkNonceFields({ config, fault }: EndpointSite<VerifyConfig>): void {
  const unused = (field: string, without: string) =>
    fault('HTTP_SIGNATURES_NONCE', `/${field}`, `${field} has no effect without ${without}`, {
      hint: `add ${without}, or remove ${field}`,
    });
  if (config.connection_name !== undefined && !config.require_nonce) throw unused('connection_name', 'require_nonce');
  if (config.on_failure_allow && config.connection_name === undefined) {
    throw unused('on_failure_allow', 'connection_name');
  }
}
