import { adminScopes, scopeMeanings } from '../../kernel/contract/internal.ts';
import { linkToOperation, operations } from './admin-operations.ts';
import { code, plain, table } from './markdown.ts';

const sending = `Clients send a token as a bearer token. Responses are JSON; errors are \`application/problem+json\`.

\`\`\`sh
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:9180/v1/status
\`\`\`

A missing or unknown token is answered with 401, a token without the required scope with 403, and an address with more than ten
wrong tokens in a minute with 429. The commands of \`sluice\` send the token of \`--admin-token-file\`, of \`GATEWAY_ADMIN_TOKEN\`,
or of the file that a gateway of the same user and address created.`;

const sources = `The first of these sources applies; the others are ignored:

1. \`--admin-token-file FILE\`, read again whenever it changes. A missing or invalid file admits nobody.
2. \`GATEWAY_ADMIN_TOKEN\`: one token with every scope.
3. \`tokens\` of this component.
4. A random token with every scope, in \`admin-ADDRESS.token\` of the state directory (\`--state-dir\`, default
   \`~/.local/state/sluice\`), readable by its owner only. Later starts at the same address use it again. Deleting the file revokes
   the token; the next start or reload creates another.`;

const tokenFile = `The file holds one token with every scope, or a JSON list of tokens. Like \`tokens\` of this component, the list stores the
SHA-256 of each token, never the token. This creates a token that can check configurations and reload the file, and uses it:

\`\`\`sh
TOKEN=$(openssl rand -base64 32)
SHA256=$(printf %s "$TOKEN" | sha256sum | cut -d ' ' -f 1)
cat > tokens.json <<END
[
  { "id": "deploy", "sha256": "$SHA256", "scopes": ["read", "write"] }
]
END
chmod 600 tokens.json
sluice run --admin-token-file tokens.json gateway.json &
curl -H "Authorization: Bearer $TOKEN" -X POST http://127.0.0.1:9180/v1/reload
\`\`\`

\`id\` names the token in the history and the audit log.`;

/** Markdown for the page of the admin API: how clients authenticate, and what each scope allows. */
export function adminGuide(): string[] {
  return [
    '## Access',
    sending,
    '### Sources of tokens',
    sources,
    '### Token file',
    tokenFile,
    '### Scopes',
    'Scopes do not include each other, except that `write` includes `check`.',
    table(
      ['Scope', 'Tokens with this scope can'],
      adminScopes.map((scope) => [code(scope), plain(scopeMeanings[scope])]),
    ),
    '## Operations',
    'Tools of `/v1/mcp` need the scope of the operation that they run. `GET /v1/admin-openapi` describes every operation in full.',
    table(
      ['Operation', 'Scope', 'Description'],
      operations.map((operation) => [
        linkToOperation(operation, 'operations.md'),
        operation.scope === null ? 'none' : code(operation.scope),
        plain(operation.summary),
      ]),
    ),
  ];
}
