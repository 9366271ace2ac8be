import { type EndpointSite, meterOf, type Site } from '#contract';
import { type Measure, measure } from '../lib/measure.ts';
import type { LoginResult } from './login.ts';

/** Result of a request whose session is missing, or was refreshed. */
export type RequestResult = 'missing' | 'refreshed' | 'ended' | 'failed';

/** Measures the sessions of an endpoint, if an exporter is configured. */
export function measureRequests(site: EndpointSite<unknown>): Measure<RequestResult> | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const requests = meter.counter('oidc.requests', { description: 'Number of requests by the state of their session.' });
  const duration = meter.histogram('oidc.duration', {
    description: 'Duration of refreshes, and of redirects to a login.',
    unit: 's',
  });
  return measure(site, requests, duration, ['missing', 'refreshed', 'ended', 'failed']);
}

/** Counts events at the routes of a provider. */
export type Count = (event: 'login' | 'logout' | 'backchannel', result: LoginResult) => void;

/** Measures logins and logouts, if an exporter is configured. */
export function measureLogins(site: Site<unknown>, provider: string): Count | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const logins = meter.counter('oidc.logins', { description: 'Number of logins and logouts.' });
  return (event, result) => logins.add(1, { provider, event, result });
}
