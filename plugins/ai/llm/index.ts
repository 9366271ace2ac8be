import {
  type AtBackend,
  atBackend,
  type BackendSite,
  before,
  type DataObject,
  definePlugin,
  findNear,
  type HttpSigner,
  httpSigners,
  joinPointer,
  meterOf,
  meters,
  offer,
  type PipeRequest,
  tracers,
  type Wrap,
} from '#contract';
import { hideClient } from '../../shared/http-headers/client.ts';
import { countingTokens, unifyingAnswers } from './answer.ts';
import { passingRefusals, reportingFailures } from './failure.ts';
import { reportingInterruptions } from './interrupted.ts';
import { resolveProviders } from './inventory.ts';
import { observing } from './operation.ts';
import { outputOf, resolveStreaming } from './output.ts';
import { sendingPayload } from './payload.ts';
import { chosenVendor, schema } from './schema.ts';
import { streamingAnswers } from './stream.ts';
import { reportingUsage } from './usage.ts';
import type { Format, Vendor } from './vendor.ts';

/**
 * Calls a language model through one request and response format for all vendors. The gateway uses its own credentials;
 * credentials of clients are never sent to a vendor. If the output encoding streams, the vendor is asked to stream.
 *
 * Configuration faults: `LLM_PROVIDER`, `LLM_OUTPUT`, `LLM_TEMPLATE`, `LLM_PATH`, `LLM_ENCODING`, `TEMPLATE_INVALID`;
 * warnings `LLM_ADDRESS`, `LLM_METHOD`, `LLM_VARIABLE`, `LLM_FORMAT`, `LLM_SHAPE`. Call errors: `LLM_PROMPT`, `LLM_PARAMETER`, `LLM_FAILURE`,
 * `LLM_ANSWER`, `LLM_COMPRESSED` and those of templates.
 */
export const plugin = definePlugin({
  name: 'ai/llm',
  description: 'Calls a large language model through one request and response format for all providers.',
  freeKeys: true,
  offers: [httpSigners],
  takes: [meters, tracers],
  convert(document, report) {
    resolveProviders(document, report);
    resolveStreaming(document);
  },
  becomes: ['encoding/sse', 'encoding/eventstream'],
  places: [atBackend(schema, (site) => attach(site as BackendSite<DataObject>))],
});

function attach(site: BackendSite<DataObject>): AtBackend {
  const { vendor, settings, pointer } = chosenVendor(site);
  const { credentials, debug } = settings;
  const { method } = site.backend;
  if (method !== 'POST' && method !== '') {
    site.warn('LLM_METHOD', '', `the API of ${vendor.name} requires the method POST, but the backend uses ${method}`, {
      hint: 'Set "method" to "POST".',
    });
  }
  warnOfSlips(site);
  const output = outputOf(site);
  const escaped = JSON.stringify(credentials).slice(1, -1);
  const masked = (text: string) => text.replaceAll(credentials, '***').replaceAll(escaped, '***');
  const show = (what: string, text: () => string): void => {
    if (debug) site.log.debug(() => `[LLM] ${what}: ${masked(text())}`);
  };
  const counter = meterOf(site)?.counter('llm.tokens', {
    description: 'Number of tokens in prompts and responses of models.',
  });
  const tokens = counter ? countingTokens(counter, vendor.name, site.endpoint.endpoint) : null;
  const observe = observing(site, vendor, modelOf(site, settings.variables['model']));
  const reportUsage = reportingUsage(settings.price);
  const common = { vendor, settings, pointer, show };
  const send = sendingPayload(site, { ...common, streams: output !== null });
  const failures = reportingFailures(site, vendor, credentials);
  const attached = {
    offers: [offer(httpSigners, signerOf(vendor, credentials, site.backend.host))],
    sets: vendor.headers(credentials).map(([name]) => name),
  };
  if (output === null) {
    const read = unifyingAnswers(site, { ...common, tokens, reportUsage });
    const alone = site.endpoint.backend.every(
      ({ extra_config: components }, _, { length }) => length === 1 || Object.hasOwn(components, 'backend/conditional'),
    );
    const refuse = alone ? passingRefusals() : same;
    return {
      ...attached,
      backend: (next) => observe(reportingInterruptions(refuse(read(send(next))))),
      transport: (next) => failures(unnamed(next)),
      readsData: true,
    };
  }
  const model = isRewritten(vendor, settings.format) ? modelOf(site, settings.variables['model']) : null;
  const { format } = settings;
  const stream = streamingAnswers(site, { vendor, messages: output.messages, model, format, tokens, reportUsage });
  return {
    ...attached,
    backend: (next) => observe(reportingInterruptions(send(next))),
    transport: (next) => stream(failures(unnamed(next))),
  };
}

/** Warns of unknown variables whose name is similar to one of the vendor's variables. Unknown variables have no effect without an input template. */
function warnOfSlips(site: BackendSite<DataObject>): void {
  const { vendor, settings, pointer } = chosenVendor(site);
  if (settings.input_template !== undefined) return;
  const known = Object.keys(vendor.variables.properties ?? {});
  for (const name of Object.keys(settings.variables)) {
    const near = known.includes(name) ? undefined : findNear(name, known);
    if (!near) continue;
    site.warn('LLM_VARIABLE', joinPointer(pointer, 'variables', name), `${vendor.name} has no variable "${name}"`, {
      hint: `Did you mean "${near.name}"?`,
      ofKey: true,
    });
  }
}

const same: Wrap<PipeRequest> = (next) => next;

/** Removes headers that identify the client, because vendors are third parties. */
const unnamed = before<PipeRequest>(({ headers }) => hideClient(headers));

function isRewritten({ stream }: Vendor, format: Format): boolean {
  return format !== 'native' && format !== stream.format;
}

/** Returns the model name from the variables, or else from the URL. */
function modelOf({ backend }: BackendSite<DataObject>, name: unknown): string {
  if (typeof name === 'string') return name;
  return /\/models?\/([^/:?]+)/.exec(backend.url_pattern)?.[1] ?? '';
}

/**
 * Adds the credentials last, and only to requests to the vendor, so that earlier steps do not see them and redirects to
 * other origins do not receive them.
 */
function signerOf(vendor: Vendor, credentials: string, hosts: readonly string[]): HttpSigner {
  const headers = vendor.headers(credentials);
  const origins = new Set(hosts.map((host) => URL.parse(host)?.origin));
  return {
    sign({ headers: sent, origin, redirects }) {
      const isVendor = redirects === 0 || origins.has(origin);
      for (const [name, value] of headers) {
        if (isVendor) sent.set(name, value);
        else sent.delete(name);
      }
    },
  };
}
