import { type AttackedEndpoint, type AttackRequest, type AttackStage, type DataObject, isObject } from '#contract';
import { withHeader } from '../requests.ts';
import { admit, identify, shownCredentials } from './credentials.ts';
import { backends, componentServers } from './servers.ts';

/** Bodies of requests to language models, by the component that reads them. */
const prompts: Readonly<Record<string, (endpoint: AttackedEndpoint) => object>> = {
  'ai/llm': () => ({ contents: 'attack' }),
  'ai/router': () => ({ contents: 'attack' }),
  'ai/chat-completions': ({ components }) => ({
    model: components
      .flatMap(({ settings }) => settings['models'] ?? [])
      .map((model) => isObject(model) && model['name'])[0],
    messages: [{ role: 'user', content: 'attack' }],
  }),
};

/** Prepares a sandbox: callers with credentials, key servers and backends. */
export function stage(document: DataObject, endpoints: readonly AttackedEndpoint[]): AttackStage {
  const admitted = admit(document, endpoints);
  // Settings of the listener are removed, because attacks use plain connections to a port of the loopback address.
  for (const field of ['tls', 'proxy_protocol', 'listen_ip', 'socket_mode']) delete admitted[field];
  return {
    document: admitted,
    identify(endpoint, request, caller) {
      const addressed = addressedTo(endpoint, request);
      return caller === null ? addressed : identify(endpoint, addressed, caller);
    },
    serve: componentServers(endpoints),
    backend: backends(endpoints),
    shown: shownCredentials(endpoints),
  };
}

/**
 * Adds the parts that components require of every request: a host name, the header that indicates HTTPS, and headers
 * that identify clients.
 */
function addressedTo(endpoint: AttackedEndpoint, request: AttackRequest): AttackRequest {
  return endpoint.components.reduce((made, { namespace, level, settings }) => {
    if (namespace === 'security/http') return secured(made, settings);
    if (level !== 'service' && Object.hasOwn(prompts, namespace))
      return withPrompt(made, prompts[namespace]!(endpoint));
    if (namespace.startsWith('qos/ratelimit/') && settings['strategy'] === 'header') {
      return withHeader(made, String(settings['key']), 'attack-client');
    }
    return made;
  }, request);
}

function withPrompt(request: AttackRequest, prompt: object): AttackRequest {
  return request.body === undefined ? request : { ...request, body: JSON.stringify(prompt) };
}

function secured(request: AttackRequest, settings: Readonly<DataObject>): AttackRequest {
  const { allowed_hosts: hosts, allowed_hosts_are_regex: isRegex, ssl_proxy_headers: marks } = settings;
  const marked = Object.entries((marks ?? {}) as DataObject)
    .slice(0, 1)
    .reduce((made, [name, value]) => withHeader(made, name, String(value)), request);
  return Array.isArray(hosts) && hosts.length > 0 && !isRegex ? withHeader(marked, 'Host', String(hosts[0])) : marked;
}
