import type { Codes } from './codes.ts';

/** Error codes of authentication, keys and tokens. */
export const authErrors: Codes = {
  API_KEYS_HASH: [
    'The hash of an API key has the wrong number of digits.',
    'Compute the hash of salt and key again, or set `"hash": "plain"`.',
  ],
  API_KEYS_HEADER: ['`propagate_role` is not a valid header name.', 'Correct the name.'],
  API_KEYS_IDENTIFIER: ['`identifier` is not a valid header name.', 'Correct the name.'],
  API_KEYS_KEY: ['An API key is too long, or has spaces around it.', 'Shorten or trim the key.'],
  API_KEYS_MISSING: [
    'An endpoint requires API keys, and the root declares none.',
    'Add `auth/api-keys` with `keys` to the root.',
  ],
  API_KEYS_ROLE: ['No key has a role that the endpoint requires.', 'Correct the role, or add it to a key.'],
  API_KEYS_STRATEGY: [
    'The strategy of an endpoint differs from the strategy of the root, whose `identifier` is used.',
    'Set `identifier` next to `strategy`.',
  ],
  API_KEYS_TWICE: ['A key is listed twice; its roles are combined.', 'Remove one of the two entries.'],
  API_KEYS_UNUSED: ['`salt` has no effect on plain keys.', 'Remove `salt`, or set a hash.'],
  AWS_CREDENTIALS: [
    'No AWS credentials are available, or AWS refused to issue temporary ones.',
    'Set the credentials in the environment, or give the machine a role.',
  ],
  BASIC_BUSY: [
    'Too many passwords are being compared at once. The client gets 503.',
    'Lower the cost of the hashes to 10 to 12, or limit the rate.',
  ],
  BASIC_ENDPOINT: ['The old plugin names an endpoint that does not exist.', 'Correct the path.'],
  BASIC_FILE: ['The htpasswd file cannot be read.', 'Correct the path or the permissions.'],
  BASIC_FORM: [
    'The settings of the old plugin are not valid.',
    'Write the settings as in the hint, or use `auth/basic`.',
  ],
  BASIC_HASH: ['A user has no password hash, or one that is not bcrypt.', 'Create the entry with `htpasswd -nB NAME`.'],
  BASIC_HEADER: [
    '`auth/basic` and `auth/validator` read the same header.',
    'Set another `auth_header_name` in `auth/validator`.',
  ],
  BASIC_NO_USERS: ['No users are declared.', 'Add `htpasswd_path` or `users`, here or at the root.'],
  BASIC_SLOW: [
    'A password hash has such a high cost that its comparison takes seconds.',
    'Hash the password with a cost of 10 to 12.',
  ],
  BASIC_THREAD: [
    'A password could not be compared, because the thread failed.',
    'Read the cause in the log. If the error occurs again, report it as a bug.',
  ],
  BASIC_USER: ['Clients cannot send this user name, for example because it contains a colon.', 'Change the name.'],
  CREDENTIALS_INSECURE: ['The client secret is sent without TLS.', 'Use `https://` in `token_url`.'],
  CREDENTIALS_SCOPE: ['The scope is in `scopes` and in `endpoint_params`.', 'Remove one of the two.'],
  CREDENTIALS_TOKEN: [
    'The token server issued no token.',
    'Check client id, secret, scopes, and the log of the token server.',
  ],
  CREDENTIALS_URL: [
    '`token_url` is not a valid URL, or contains credentials.',
    'Write the URL without credentials; use `client_id` and `client_secret`.',
  ],
  EXTERNAL_CACHE: [
    'Cached decisions could be applied to requests of other clients.',
    'Set `cache_headers` to the headers that identify a client; do not cache decisions on bodies.',
  ],
  EXTERNAL_FAILED: [
    'The external server did not respond with a decision. The client gets `on_failure_status`.',
    'Check that the server is reachable, and responds with 2xx, a redirect or 4xx, or with a CheckResponse.',
  ],
  EXTERNAL_FIELD: ['A field has no effect with the other settings.', 'Remove the field.'],
  EXTERNAL_HEADER: ['A header name is not valid, or belongs to the gateway.', 'Correct the name.'],
  EXTERNAL_INSECURE: ['Credentials of clients are sent without TLS.', 'Use `https://` or `grpcs://`.'],
  EXTERNAL_URL: ['`url` is not a valid URL, or contains credentials.', 'Write an http, https, grpc or grpcs URL.'],
  GCP_CLAIM: ['A claim in `custom_claims` cannot be set, because the gateway sets it.', 'Remove the claim.'],
  GCP_CLAIMS: [
    '`custom_claims` has no effect when tokens come from the metadata server.',
    'Set `credentials_file` with the key of a service account.',
  ],
  GCP_CREDENTIALS: ['The credentials of the service account are not valid.', 'Download the JSON key again.'],
  GCP_FILE: ['The credentials file cannot be read.', 'Correct the path or the permissions.'],
  GCP_HEADER: ['`s2s_auth_header` is not a valid header name.', 'Correct the name.'],
  GCP_INSECURE: ['The identity token is sent without TLS.', 'Use `https://` in `host`.'],
  GCP_TOKEN: [
    'No identity token was issued.',
    'Check the credentials and that the metadata server or Google is reachable.',
  ],
  GCP_UNUSED: ['`credentials_file` has no effect next to `credentials_json`.', 'Remove one of the two.'],
  HTTP_SIGNATURES_COMPONENT: [
    'A component of a signature is not supported.',
    'Use lowercase header names and the components that the hint lists.',
  ],
  HTTP_SIGNATURES_FAILED: [
    'A nonce could not be compared or stored. The client gets `on_failure_status`.',
    'Check that Redis is reachable, or shorten `max_age` if too many nonces are in use.',
  ],
  HTTP_SIGNATURES_HEADER: ['`key_id_header` is not a valid header name.', 'Correct the name.'],
  HTTP_SIGNATURES_KEY: [
    'The key set has no key that can sign with this algorithm, or a name contains other than ASCII characters.',
    'Correct `kid` and `alg`, or add the private key to the set.',
  ],
  HTTP_SIGNATURES_NONCE: [
    'A setting for nonces has no effect.',
    'Add `require_nonce` or `connection_name`, or remove the setting.',
  ],
  INTROSPECTION_CACHE: ['Inactive tokens would be cached longer than active ones.', 'Shorten `negative_cache_ttl`.'],
  INTROSPECTION_CLIENT: [
    'The credentials of the gateway do not match the authentication method.',
    'Set `client_id` and `client_secret`, or `bearer_token` with `"client_auth_method": "bearer"`.',
  ],
  INTROSPECTION_FAILED: [
    'The authorization server has not decided on a token. The client gets `on_failure_status`.',
    'Check that the introspection endpoint is reachable, knows the client of the gateway, and responds with JSON.',
  ],
  INTROSPECTION_HEADER: ['`auth_header_name` is not a valid header name.', 'Correct the name.'],
  INTROSPECTION_INSECURE: ['Tokens are sent without TLS.', 'Use `https://` in `introspection_url`.'],
  INTROSPECTION_SERVER: [
    'An endpoint has no authorization server, or settings for one without its URL.',
    'Set `introspection_url` with the credentials at the endpoint, or at the root.',
  ],
  INTROSPECTION_UNUSED: [
    'A setting of the introspection has no effect.',
    'Remove it, or add the component or field that the message names.',
  ],
  INTROSPECTION_URL: [
    '`introspection_url` is not a valid URL, or contains credentials.',
    'Write the URL without credentials; use `client_id` and `client_secret`.',
  ],
  KEYS_CA: [
    'The file of certificate authorities for the key server is not valid.',
    'Correct the path, or replace the file.',
  ],
  KEYS_CYPHER: [
    'The key file cannot be decrypted.',
    'Check that `secret_url`, `cypher_key` and the file belong together.',
  ],
  KEYS_FILE: ['The JWK set of a file cannot be read or used.', 'Correct the path or the JSON.'],
  KEYS_INSECURE: [
    'Keys are downloaded without TLS: anyone on the path could replace them.',
    'Use `https://`; in a trusted network set `disable_jwk_security`.',
  ],
  KEYS_PIN: [
    'A fingerprint is not valid, or has no effect.',
    'Write the SHA-256 hash in base64url, and do not set `disable_jwk_security`.',
  ],
  KEYS_SECRET: [
    'The settings of an encrypted key file are incomplete.',
    'Set `jwk_local_path`, `secret_url` and `cypher_key`, or none of them.',
  ],
  KEYS_UNUSED: ['A setting of downloads has no effect with `jwk_local_path`.', 'Remove the setting.'],
  KEYS_URL: ['The URL of the key server is not an `http` or `https` URL.', 'Correct the URL.'],
  NTLM_BODY: ['The request body is too large to be repeated during NTLM.', 'Send a smaller body.'],
  NTLM_CHALLENGE: ['The backend sent no valid NTLM challenge.', 'Check that the backend offers NTLM.'],
  NTLM_CONNECTION: ['The backend closes the connection during NTLM.', 'Enable keep-alive at the backend.'],
  NTLM_KEEP_ALIVE: ['NTLM authenticates connections, which are configured to close.', 'Remove `disable_keep_alives`.'],
  NTLM_PROXY: ['Connections through a proxy are shared, so NTLM cannot authenticate them.', 'Remove `proxy_address`.'],
  OIDC_CLIENT: [
    'The client secret does not match the authentication method.',
    'Set `client_secret`, or `"client_auth_method": "none"` for a public client.',
  ],
  OIDC_FAILED: [
    'The provider or Redis did not respond with a decision. The client gets `on_failure_status`.',
    'Check that the provider and Redis are reachable, and that the provider knows the client.',
  ],
  OIDC_INSECURE: ['The provider is reached without TLS.', 'Use `https://` in `issuer`.'],
  OIDC_NAME: ['Two providers have the same name.', 'Rename one of them.'],
  OIDC_PATH: ['Two providers have the same path.', 'Change `path` of one of them.'],
  OIDC_PROVIDER: [
    'An endpoint names no provider, or one that is not declared.',
    'Set `provider` to the name of a provider in `auth/oidc` at the root.',
  ],
  OIDC_SESSION: [
    'The duration of sessions, or a secret, is too short.',
    'Set `max_age` to 1 second or more, and use secrets of 32 characters or more.',
  ],
  OIDC_UNUSED: [
    'Backends do not receive the access token.',
    'Add `Authorization` to `input_headers`, or remove `pass_access_token`.',
  ],
  OIDC_URL: [
    '`public_url` or `issuer` is not a valid URL, or cookies would be sent without TLS.',
    'Write an `https` URL without user, query and fragment.',
  ],
  REVOKER_INTERVAL: ['The interval is less than 1 second.', 'Write `"30s"`.'],
  REVOKER_OPEN: ['Without a key, every account of the machine can revoke tokens.', 'Set `revoke_server_api_key`.'],
  REVOKER_RATE: [
    'With a false positive rate of 1, every token would be rejected.',
    'Set a smaller `P`, such as `1e-7`.',
  ],
  REVOKER_SIZE: ['The filters would exceed the memory limit.', 'Lower `N`, or raise `P`.'],
  REVOKER_URL: [
    'The address of the revoke server is not valid, or its key is missing.',
    'Write `http://host:port/instances` and set `revoke_server_api_key`.',
  ],
  REVOKER_WORKERS: ['The revoke server runs in a single process.', 'Start it without `--workers`.'],
  SIGNER_KEY: ['The signing key cannot be used.', 'Check `kid`, `alg` and the key set.'],
  SIGNER_OUTPUT: [
    'The response of the signer is JSON; the output encoding has no effect.',
    'Set `"output_encoding": "json"`.',
  ],
  SIGNER_WEAK_KEY: [
    'The symmetric key is shorter than the output of the hash algorithm.',
    'Create a longer key with `openssl rand`.',
  ],
  VALIDATOR_CACHE: ['`cache` has no effect on keys from a file.', 'Remove `cache`.'],
  VALIDATOR_DURATION: ['A duration is less than 1 second.', 'Write `"1s"` or more.'],
  VALIDATOR_HEADER: ['A header name is not valid, or belongs to the gateway.', 'Use another header.'],
  VALIDATOR_HEADER_UNUSED: [
    'A claim is passed in a header that is not forwarded to any backend.',
    'Add the header to `input_headers` of the endpoint.',
  ],
  VALIDATOR_KEYS: ['No key of the file works with `alg`.', 'Correct `alg`, or the key set.'],
  VALIDATOR_SCOPES: ['Scopes are not checked without `scopes_key`.', 'Set `"scopes_key": "scope"`.'],
  VALIDATOR_UNUSED: [
    'A setting of the validator has no effect.',
    'Remove it, or add the component or field that the message names.',
  ],
  VALIDATOR_WEAK_KEY: [
    'A symmetric key is shorter than the output of the hash algorithm.',
    'Create a longer key with `openssl rand`.',
  ],
};

/** Error codes of policies, expressions, client filters and security headers. */
export const securityErrors: Codes = {
  BOT_OFF: ['The bot detector rejects nothing.', 'List user agents in `deny` or `patterns`.'],
  BOT_REJECTED: [
    'The user agent is listed as a bot. The client gets 403.',
    'Add the user agent to `allow` if it should be accepted.',
  ],
  BOT_UNUSED: ['A setting of the bot detector has no effect.', 'Remove the setting.'],
  CEL_FUNCTION: ['A CEL function does not exist, or does not take these arguments.', 'Correct the call; see the hint.'],
  CEL_KEY: ['The variable never has this key.', 'Use the key that the hint names.'],
  CEL_NAME: [
    'The expression uses an unknown variable, or one that is not available in this place.',
    'Correct the name, or move the expression.',
  ],
  CEL_NEVER: [
    'A comparison is never true, because the types differ.',
    'Convert one side of the comparison, or correct the value.',
  ],
  CEL_NO_CONDITION: [
    'The expression does not produce true or false.',
    'Compare the result of the expression with a value.',
  ],
  CEL_NO_TOKEN: ['`JWT` is only available with `auth/validator`.', 'Add `auth/validator` to the endpoint.'],
  CEL_PATTERN: [
    'A pattern in the expression is not valid or not supported.',
    'Use RE2 syntax, or `contains()`, `startsWith()`, `endsWith()`.',
  ],
  CEL_REJECTED: [
    'A condition is false. The client gets the configured status.',
    'None, if the request should be rejected.',
  ],
  CEL_SIZE: ['The expression is too long or too deeply nested.', 'Split it into several expressions.'],
  CEL_SYNTAX: ['The expression has a syntax error.', 'Correct the marked position.'],
  CEL_TYPE: ['The expression uses a type or field that does not exist.', 'Correct the marked position.'],
  CORS_CREDENTIALS: ['Browsers reject credentials if every origin is allowed.', 'List the origins in `allow_origins`.'],
  CORS_HEADER: ['A header name is not valid.', 'Correct the name.'],
  CORS_MAX_AGE: ['`max_age` is less than a second and has no effect.', 'Write `"1s"` or more.'],
  CORS_ORIGIN: ['An origin has more than one `*`.', 'Write one entry for each origin.'],
  CORS_ORIGINS: ['`allow_origins` is missing.', 'List the permitted origins, or `["*"]`.'],
  CORS_ORIGIN_NEVER: ['No browser sends this origin.', 'Write scheme, host and port only: `https://example.com`.'],
  CORS_UNUSED: ['A setting of CORS has no effect.', 'Remove the setting.'],
  IP_FILTER_EMPTY: ['The IP filter has no addresses.', 'Add `CIDR` ranges, or remove the filter.'],
  IP_FILTER_RANGE: ['An entry is not an IP address or range.', 'Write the entry as `10.0.0.0/8`.'],
  IP_FILTER_SPOOFABLE: ['Any client can claim another address in a header.', 'List your proxies in `trusted_proxies`.'],
  IP_REJECTED: [
    'The IP filter rejects the address of the client, with 403.',
    'Change the ranges of the filter if the client should have access.',
  ],
  POLICY_FAILED: [
    'A policy is violated. The client gets the configured status.',
    'None, if the request should be rejected.',
  ],
  POLICY_FIELD: ['A policy reads an unknown field.', 'Correct the name.'],
  POLICY_NONE: ['No policies are configured.', 'Add `req`, `resp` or `jwt`.'],
  POLICY_NO_GEOIP: ['`geoIP()` requires a geolocation database.', 'Add the built-in plugin `geoip` to the root.'],
  POLICY_NO_REQUEST: ['A policy on tokens reads the request.', 'Move the policy to `req`.'],
  POLICY_NO_TOKEN: ['`JWT` is only available with `auth/validator`.', 'Add `auth/validator` to the endpoint.'],
  POLICY_UNUSED: [
    'A setting of the policies has no effect.',
    'Remove it, or add the component or field that the message names.',
  ],
  SECURITY_HEADER_NAME: ['A header name is not valid.', 'Correct the name.'],
  SECURITY_HEADER_VALUE: [
    'A value contains a character that is not allowed in headers.',
    'Remove the character from the value.',
  ],
  SECURITY_HOST_FORM: [
    'No request has this host.',
    'Write the host name and port only, or set `allowed_hosts_are_regex`.',
  ],
  SECURITY_REDIRECT_LOOP: [
    '`ssl_redirect` redirects every request in a loop.',
    'Configure `tls`, or `ssl_proxy_headers` of the load balancer.',
  ],
  SECURITY_UNUSED: ['A setting has no effect without another one.', 'Add the other setting, or remove this one.'],
};
