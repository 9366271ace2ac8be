import type { AttackCatalogue } from '#contract';
import { cacheConfusion } from './catalogue/cache-confusion.ts';
import { compressionBomb } from './catalogue/compression-bomb.ts';
import { corsReflection } from './catalogue/cors-reflection.ts';
import { graphqlDepth } from './catalogue/graphql-depth.ts';
import { headerSpoofing } from './catalogue/header-spoofing.ts';
import { hopByHopAbuse } from './catalogue/hop-by-hop-abuse.ts';
import { methodConfusion } from './catalogue/method-confusion.ts';
import { missingCredentials } from './catalogue/missing-credentials.ts';
import { openRedirect } from './catalogue/open-redirect.ts';
import { oversizedBody } from './catalogue/oversized-body.ts';
import { oversizedHeaders } from './catalogue/oversized-headers.ts';
import { parameterInjection } from './catalogue/parameter-injection.ts';
import { pathConfusion } from './catalogue/path-confusion.ts';
import { quotaRace } from './catalogue/quota-race.ts';
import { rateLimitEvasion } from './catalogue/rate-limit-evasion.ts';
import { requestSmuggling } from './catalogue/request-smuggling.ts';
import { secretDisclosure } from './catalogue/secret-disclosure.ts';
import { slowBody } from './catalogue/slow-body.ts';
import { slowHeaders } from './catalogue/slow-headers.ts';
import { tokenAlgorithm } from './catalogue/token-algorithm.ts';
import { tokenAudience } from './catalogue/token-audience.ts';
import { tokenClaims } from './catalogue/token-claims.ts';
import { tokenHeader } from './catalogue/token-header.ts';
import { stage } from './stage/index.ts';

/** The attacks of this release, in the order in which they run. */
export const catalogue: AttackCatalogue = {
  attacks: [
    requestSmuggling,
    missingCredentials,
    pathConfusion,
    tokenAlgorithm,
    tokenHeader,
    tokenClaims,
    headerSpoofing,
    hopByHopAbuse,
    methodConfusion,
    parameterInjection,
    cacheConfusion,
    corsReflection,
    secretDisclosure,
    quotaRace,
    rateLimitEvasion,
    openRedirect,
    graphqlDepth,
    compressionBomb,
    oversizedBody,
    oversizedHeaders,
    slowHeaders,
    slowBody,
    tokenAudience,
  ],
  stage,
};
