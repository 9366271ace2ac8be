import type { Attack } from '#contract';
import { firstAccepted, validatorOf } from '../forged-tokens.ts';

export const tokenAudience: Attack = {
  name: 'token-audience',
  severity: 'LOW',
  title: 'A validator accepts tokens that were issued for another service',
  description:
    'Sends a valid token whose audience is another service to endpoints whose validator names an identity provider, but no audience. A finding is a token that the endpoint accepts: every service that receives tokens of the provider can use them here.',
  applies: (endpoint) => {
    const { jwk_url: url, audience } = validatorOf(endpoint)?.settings ?? {};
    return typeof url === 'string' && !(Array.isArray(audience) && audience.length > 0);
  },
  async run(target) {
    const forgery = { why: 'for another service', claims: { aud: ['https://another.example.com'] } };
    const accepted = await firstAccepted(target, [forgery]);
    if (!accepted) return [];
    return [
      {
        shown: 'The endpoint accepted a token whose audience is https://another.example.com.',
        remedy: 'Set audience of auth/validator to the identifier of this API.',
        pointer: validatorOf(target)!.pointer,
        requests: [accepted.request],
      },
    ];
  },
};
