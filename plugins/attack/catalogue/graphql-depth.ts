import { type Attack, isObject, type SandboxRequest } from '#contract';
import { withHeader, withQuery } from '../requests.ts';

/** Depth of the query. Servers resolve each level of a list for every entry of the level above it. */
const DEPTH = 60;

export const graphqlDepth: Attack = {
  name: 'graphql-depth',
  severity: 'MEDIUM',
  title: 'A client can send GraphQL queries of any depth to a backend',
  description:
    'Sends a query with 60 levels, in the body and in the parameter "query", to endpoints whose backend is a GraphQL server. A finding is that query at the backend.',
  applies: ({ config }) => config.backend.some(({ url_pattern: pattern }) => /graphql/i.test(pattern)),
  async run({ baseline, pointer, send }) {
    const query = `${'{ friends '.repeat(DEPTH)}{ id }${' }'.repeat(DEPTH)}`;
    const posted = { ...withHeader(baseline, 'Content-Type', 'application/json'), body: JSON.stringify({ query }) };
    for (const request of [posted, withQuery(baseline, 'query', query)]) {
      const { calls } = await send(request);
      if (!calls.some((call) => isDeep(call))) continue;
      return [
        {
          shown: `The backend received a query with ${DEPTH} levels.`,
          remedy: 'Write the query in backend/graphql, so that clients send variables only, or limit its depth.',
          pointer: `${pointer}/backend/0/url_pattern`,
          requests: [request],
        },
      ];
    }
    return [];
  },
};

/** Whether the query of a request is nested deeply. A variable whose value is nested deeply does not count. */
function isDeep({ url, body }: SandboxRequest): boolean {
  return [new URL(url).searchParams.get('query'), queryIn(body)].some(
    (text) => (text ?? '').split('friends').length > DEPTH,
  );
}

function queryIn(body: Uint8Array): string | null {
  try {
    const document: unknown = JSON.parse(Buffer.from(body).toString());
    return isObject(document) ? String(document['query']) : null;
  } catch {
    return null;
  }
}
