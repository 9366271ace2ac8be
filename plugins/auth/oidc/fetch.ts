import type { CustomFetch } from 'openid-client';
import { HeaderBag, RequestBody, type Site } from '#contract';
import { bytesOf } from '../../shared/calls/body.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { requestTo } from '../../shared/calls/request-to.ts';
import { Undecided, undecided, undecidedStatus } from '../lib/undecided.ts';

/** Maximum size of a decoded response of the provider, in bytes. */
const MAX_BYTES = 256 * 1024;

const bodiless = new Set([204, 205, 304]);

/**
 * The gateway's HTTP client as a `fetch` function: with its TLS and proxy settings, a timeout for each request, and a
 * limit for responses. @param address for `sluice check --connect`.
 */
export function providerFetch(site: Site<unknown>, address: string, at: string, timeoutMs: number): CustomFetch {
  const send = site.http({ ofService: true, followsRedirects: false, calls: [{ address, at }] });
  const agent = `Sluice Version ${site.use('version')}`;
  const never = new AbortController().signal;
  return async (target, { method, headers, body, signal }) => {
    const bag = new HeaderBag();
    for (const [name, value] of new Headers(headers as Record<string, string>)) bag.append(name, value);
    bag.set('User-Agent', agent);
    const request = requestTo(new URL(target), method, bag, body ? RequestBody.of(String(body)) : null);
    try {
      return await underOwnCall(site.log, timeoutMs, signal ?? never, async (call) => {
        const reply = await send(request, call);
        if (reply.errors.length > 0) throw reply.errors[0]!;
        const { status } = reply;
        const bytes = await bytesOf(reply, MAX_BYTES);
        if (status >= 502 && status <= 504) throw undecidedStatus(status);
        if (bytes.length > MAX_BYTES) throw new Undecided(`the response is larger than ${MAX_BYTES} bytes`, false);
        return new Response(bodiless.has(status) ? null : Buffer.from(bytes), {
          status,
          headers: [...reply.headers],
        });
      });
    } catch (error) {
      throw undecided(error as Error);
    }
  };
}

/** Finds the reason why the provider has not decided; null for errors that are not the provider's. */
export function undecidedCause(error: unknown): Undecided | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Undecided) return at;
  return null;
}
