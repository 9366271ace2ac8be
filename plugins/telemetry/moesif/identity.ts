import { type ClientRequest, type DataObject, getKey, getPath, isObject } from '#contract';
import type { MoesifConfig } from './schema.ts';

/** Maximum length of a token that is decoded, in characters. */
const MAX_TOKEN = 16 * 1024;

/** Identity of the client, as stated by the request. */
export interface Identity {
  readonly userId: string | undefined;
  readonly companyId: string | undefined;
}

/** Creates a function that reads the client's identity. It does not verify tokens: that is the endpoint's task, and an event grants no access. */
export function identityReader(config: MoesifConfig): (request: ClientRequest) => Identity {
  const { user_id_jwt_claim: userClaim, identify_company: company } = config;
  const headers = config.user_id_headers.map((name) => name.toLowerCase());
  const userOf = (request: ClientRequest): string | undefined => {
    const name = headers.find((header) => request.headers.has(header));
    if (name === undefined) return undefined;
    const value = request.headers.get(name)!;
    return (name === 'authorization' ? nameIn(value, userClaim) : value) || undefined;
  };
  const companyOf = (request: ClientRequest): string | undefined => {
    if (!company) return undefined;
    const { header, jwt_claim: claim, query_string: parameter } = company;
    if (header !== undefined) return request.headers.get(header.toLowerCase()) || undefined;
    if (claim !== undefined) return claimIn(request.headers.get('authorization') ?? '', claim) || undefined;
    return request.query.get(parameter!) || undefined;
  };
  return (request) => ({ userId: userOf(request), companyId: companyOf(request) });
}

/** Returns the user name of `Basic`, or a claim of `Bearer`. */
function nameIn(authorization: string, claim: string): string | undefined {
  const [, basic] = /^Basic +(\S+) *$/i.exec(authorization) ?? [];
  if (basic === undefined) return claimIn(authorization, claim);
  const [user] = Buffer.from(basic, 'base64').toString().split(':', 1);
  return user;
}

function claimIn(authorization: string, claim: string): string | undefined {
  if (authorization.length > MAX_TOKEN) return undefined;
  const [, payload] = /^Bearer +[\w-]+\.([\w-]+)\.[\w-]* *$/i.exec(authorization) ?? [];
  const claims = payload === undefined ? null : parsed(Buffer.from(payload, 'base64url').toString());
  if (!claims) return undefined;
  const whole = getKey(claims, claim);
  const value = whole === undefined ? getPath(claims, claim.split('.')) : whole;
  return typeof value === 'string' ? value : undefined;
}

function parsed(text: string): DataObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
