import { randomUUID } from 'node:crypto';
import { type AtBackend, type BackendSite, type HttpAttempt, type HttpSigner, httpSigners, offer } from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import { localKeys } from '../../clients/keys/key-file.ts';
import { signatureAlgorithms } from './algorithms.ts';
import { isComponent, type Message, signatureBase } from './base.ts';
import { contentDigest } from './digest.ts';
import type { SignConfig } from './schema.ts';
import { type Component, quoted } from './structured.ts';

const LABEL = 'sig1';
const set = ['Signature-Input', 'Signature', 'Content-Digest'] as const;

/** Signs each request to the backend, after all other changes. */
export function signing(site: BackendSite<SignConfig>): AtBackend {
  const { config } = site;
  const index = config.components.findIndex((name) => !isComponent(name));
  if (index >= 0) {
    const message = `"${config.components[index]}" is not a supported component`;
    throw site.fault('HTTP_SIGNATURES_COMPONENT', `/components/${index}`, message);
  }
  const key = keyOf(site);
  const { sign } = algorithm(config.alg);
  const signer: HttpSigner = {
    readsBody: true,
    sign(attempt) {
      const { headers, body } = attempt;
      for (const name of set) headers.delete(name);
      const hasBody = body !== null && body.length > 0;
      if (hasBody) headers.set('Content-Digest', contentDigest(body));
      const names = new Set([...config.components, ...(hasBody ? ['content-digest'] : [])]);
      const components = [...names].filter((name) => name.startsWith('@') || headers.has(name)).map(componentOf);
      const params = `(${components.map(({ identifier }) => identifier).join(' ')})${paramsOf(config)}`;
      const made = signatureBase(components, params, messageOf(attempt));
      // The list contains only the components that the request has.
      if ('missing' in made) return;
      headers.set('Signature-Input', `${LABEL}=${params}`);
      headers.set('Signature', `${LABEL}=:${sign(made.base, key).toString('base64')}:`);
    },
  };
  return { offers: [offer(httpSigners, signer)], sets: set };
}

function componentOf(name: string): Component {
  return { name, identifier: `"${name}"`, queryName: null, isUnsupported: false };
}

function paramsOf({ alg, kid, tag, expires_after: life }: SignConfig): string {
  const created = Math.floor(Date.now() / 1000);
  const expires = life > 0 ? `;expires=${created + Math.ceil(life / 1000)}` : '';
  const named = `;keyid=${quoted(kid)};alg=${quoted(signatureAlgorithms[alg])};nonce=${quoted(randomUUID())}`;
  return `;created=${created}${expires}${named}${tag === '' ? '' : `;tag=${quoted(tag)}`}`;
}

function messageOf({ method, origin, target, host, headers }: HttpAttempt): Message {
  const [path, search = ''] = splitTarget(target);
  return { method, scheme: origin.startsWith('https:') ? 'https' : 'http', host, path, search, headers };
}

function splitTarget(target: string): readonly [string, string?] {
  const at = target.indexOf('?');
  return at < 0 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}

function keyOf(site: BackendSite<SignConfig>) {
  const { alg, kid, jwk_local_path: path, tag } = site.config;
  if (![kid, tag].every((text) => /^[\x20-\x7e]*$/.test(text))) {
    throw site.fault('HTTP_SIGNATURES_KEY', '', '"kid" and "tag" must consist of printable ASCII characters');
  }
  const none = { jwk_fingerprints: [], cipher_suites: [], disable_jwk_security: false };
  const key = localKeys(site, path, { alg, ...none }).find('kid', kid);
  const signing = key?.kind === algorithm(alg).kind ? key.signing : null;
  if (!signing) {
    throw site.fault('HTTP_SIGNATURES_KEY', '/kid', `${path} contains no private or symmetric key "${kid}" for ${alg}`);
  }
  return signing;
}
