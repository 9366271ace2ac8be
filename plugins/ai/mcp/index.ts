import {
  type AtEndpoint,
  atEndpoint,
  atService,
  definePlugin,
  type EndpointSite,
  findNear,
  meters,
  offer,
  tracers,
} from '#contract';
import { allowedOrigins } from '../../shared/ports/allowed-origins.ts';
import { ownAnswer } from '../lib/own-answer.ts';
import { answerAllMethods } from './all-methods.ts';
import { checkAudienceParam } from './audiences.ts';
import { type Entry, serveSession, takeMessages } from './entry.ts';
import { originCheck } from './origin.ts';
import { guideClients } from './protected-resource.ts';
import { type EndpointSettings, endpointSchema, serviceSchema } from './schema.ts';
import { declaredServers, declareServers } from './servers.ts';

const name = 'ai/mcp';

/**
 * Serves the Model Context Protocol over streamable HTTP. Servers are declared at the root and published by endpoints,
 * whose other components apply first. A tool call runs a workflow or a request to an endpoint, or is
 * passed on to another MCP server.
 *
 * Configuration faults: `MCP_SERVER`, `MCP_METHOD`, `MCP_DUPLICATE`, `MCP_SCHEMA`, `MCP_PARAM_HEADER`, `MCP_HEADER`,
 * `MCP_WORKFLOW`, `MCP_ENDPOINT`, `MCP_STATELESS`, `MCP_RESOURCE`, `MCP_AUDIENCE`, `MCP_UPSTREAM`, `MCP_PREFIX`, `MCP_RATE`;
 * warnings `MCP_TOOL_NAME`, `MCP_UNUSED`, `MCP_ARGUMENT`, `MCP_SCHEMA`, `MCP_AUDIENCE`, `MCP_INSECURE`.
 */
export const plugin = definePlugin({
  name,
  description: 'Publishes workflows and endpoints as tools of Model Context Protocol (MCP) servers.',
  answersAlone: true,
  convert: answerAllMethods,
  becomes: ['proxy'],
  freeKeys: true,
  offers: [declaredServers],
  takes: [declaredServers, allowedOrigins, tracers, meters],
  expectsBelow: { component: name, called: `a server_name of ${name}`, suits: () => true },
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({
      ...guideClients(site),
      offers: [offer(declaredServers, declareServers(site))],
    })),
    atEndpoint(endpointSchema, (site): AtEndpoint => {
      const entry = entryOf(site);
      // Errors in the declared servers are reported at the root, not at the endpoint.
      if (entry === null) return ownAnswer;
      const { method } = site.endpoint;
      if (method === 'POST') return { ...ownAnswer, endpoint: () => takeMessages(entry) };
      if ((method === 'GET' || method === 'DELETE') && entry.declared.sessions) {
        return { ...ownAnswer, endpoint: () => serveSession(method, entry) };
      }
      throw site.fault(
        'MCP_METHOD',
        '',
        `${name} cannot serve ${method}${entry.declared.sessions ? '' : ' without sessions'}`,
        {
          hint: 'Remove "method": the endpoint then serves all methods of the protocol.',
        },
      );
    }),
  ],
});

/** @throws ConfigError MCP_SERVER or MCP_AUDIENCE. @returns null if the server declarations are invalid. */
function entryOf(site: EndpointSite<EndpointSettings>): Entry | null {
  const { config } = site;
  const servers = site.take(declaredServers);
  if (!servers && Object.hasOwn(site.setting('extra_config'), name)) return null;
  const declared = servers?.get(config.server_name);
  if (!declared) {
    const near = findNear(config.server_name, [...(servers?.keys() ?? [])]);
    throw site.fault('MCP_SERVER', '/server_name', `unknown MCP server "${config.server_name}"`, {
      hint: near ? `Did you mean "${near.name}"?` : `Declare the server in "${name}" at the root.`,
      fix: near?.isSure ? { value: near.name } : undefined,
    });
  }
  checkAudienceParam(site, declared.audienceSource);
  return {
    declared,
    cacheScope: declared.audienceSource || declared.isPersonal ? 'private' : cacheScopeOf(site),
    allowsOrigin: originCheck(site.take(allowedOrigins)),
  };
}

/**
 * Components that treat all clients alike, or that distinguish them only by address without changing the content of
 * responses.
 */
const impartial =
  /^(?:ai\/mcp|documentation\/.*|qos\/.*|security\/(?:cors|http)|server\/static-filesystem|telemetry\/.*|admin\/.*|router)$/;

/**
 * Returns the cache scope of the tool list. It is public only without authentication: any other component of the
 * endpoint might allow some clients and reject others.
 */
function cacheScopeOf({ endpoint, setting }: EndpointSite<EndpointSettings>): Entry['cacheScope'] {
  const around = [...Object.keys(endpoint.extra_config), ...Object.keys(setting('extra_config'))];
  const isOpen = setting('tls')?.enable_mtls !== true && around.every((namespace) => impartial.test(namespace));
  return isOpen ? 'public' : 'private';
}
