import type { Codes } from './codes.ts';

/** Error codes of endpoints, forwarded headers, shaping and output, as reported by `check`. */
export const routeErrors: Codes = {
  ADMIN_BACKEND: [
    'A backend is the admin port of this gateway: the endpoint would publish the admin API.',
    'Use another host.',
  ],
  AGENT_DRIVER: ['An async agent has no driver, or several.', 'Configure exactly one `async/…` component.'],
  AGENT_NAME: ['Two async agents have the same name.', 'Give each agent a different name.'],
  BACKEND_HOST: [
    'A backend has no host, and the root has no default hosts.',
    'Add `"host": ["http://…"]` to the backend or to the root.',
  ],
  BACKEND_NO_HTTP: [
    'A component that works on HTTP has no effect next to one that calls the backend by another protocol.',
    'Remove one of the two.',
  ],
  BACKEND_NO_STREAM: [
    'Streaming output encodings work with HTTP backends only.',
    'Use `json` or another output encoding that does not stream.',
  ],
  BACKEND_PROTOCOLS: ['Two components each replace the protocol of one backend.', 'Remove one of the two.'],
  BACKEND_SCHEME: [
    'The scheme of a host does not fit the protocol of the backend.',
    'Write the host with a scheme that the message lists.',
  ],
  CONCURRENT_UNSAFE: [
    '`concurrent_calls` repeats a method that changes data.',
    'Remove `concurrent_calls`, or use it with GET and HEAD only.',
  ],
  ENDPOINT_BACKENDS: [
    'Every backend is a shadow: the request would have no response.',
    'Remove `shadow` from one backend.',
  ],
  ENDPOINT_NO_DATA: [
    'A component requires decoded data, but the output encoding passes undecoded bytes.',
    'Use an output encoding such as `json`, or remove the component.',
  ],
  FORWARD_ALL_AND_SOME: ['A list contains `*` and other names, which have no effect.', 'Remove the other names.'],
  FORWARD_HEADER_AS_QUERY: ['The name of a header is in `input_query_strings`.', 'Move the name to `input_headers`.'],
  FORWARD_HEADER_NAME: ['A header name is not valid.', 'Correct the name.'],
  FORWARD_NEVER: [
    'A backend lists a name that its endpoint does not forward.',
    'Add the name to the list of the endpoint.',
  ],
  FORWARD_STAR: [
    '`*` has no special meaning in the lists of a backend.',
    'Use an empty list, which forwards everything that the endpoint forwards.',
  ],
  FORWARD_TWICE: ['A header is listed twice; header names are case-insensitive.', 'Delete one of the two.'],
  FORWARD_WILDCARD: ['A name with `*` is literal, not a pattern.', 'List every name, or only `*`.'],
  HOST_INVALID: ['A host is not a valid address.', 'Write the host as `http://name:port`, without a path.'],
  MERGE_GROUP: [
    'Two backends use the same group: the response of the later one replaces the other.',
    'Use different groups.',
  ],
  OUTPUT_CONTENT: [
    'The output encoding writes one field only, and no backend is known to return it.',
    'Set the matching `encoding` on the backend.',
  ],
  OUTPUT_ENCODING: [
    '`encoding` has no effect with this output encoding, which passes the response of the backend.',
    'Remove `encoding`.',
  ],
  OUTPUT_FLATMAP: ['A filter has no effect on a response that is streamed or undecoded.', 'Remove the filter.'],
  OUTPUT_ONE_BACKEND: [
    'The output encoding passes the response of one backend, and the endpoint has several.',
    'Keep one backend, or use an output encoding such as `json`.',
  ],
  OUTPUT_ONE_CALL: ['`concurrent_calls` has no effect with this output encoding.', 'Remove `concurrent_calls`.'],
  OUTPUT_SEQUENTIAL: ['`sequential` has no effect with this output encoding.', 'Remove the setting.'],
  PATTERN_QUERY: [
    'The query in `url_pattern` is lost when query parameters of the client are forwarded.',
    'Forward the parameters by placeholders, or do not list them in `input_query_strings`.',
  ],
  RETRY_BACKOFF: ['The limits of the pauses between attempts contradict each other.', 'Set `max` to `base` or more.'],
  RETRY_HEDGE: ['`hedge_after` is 0.', 'Set `hedge_after` to a time such as `100ms`.'],
  RETRY_IDEMPOTENT: [
    'Calls of gRPC methods are not retried, because it is unknown whether they can be repeated.',
    'Set `"non_idempotent": true` if the method can be called twice.',
  ],
  RETRY_IDLE: ['A setting of `backend/retry` has no effect.', 'Remove it, or change the field that the message names.'],
  RETRY_NEVER: ['The component retries no failure.', 'Add `conditions` or status codes.'],
  RETRY_PROTOCOL: [
    'Calls of this component cannot be retried as a whole.',
    'Remove `backend/retry`, or move it to the backends of the workflow.',
  ],
  ROUTE_CATCHALL_FORCED: ['A wildcard endpoint replaces the configured value.', 'Remove the value.'],
  ROUTE_COLLISION: [
    'Two endpoints, or an endpoint and a path that a component serves, match the same requests.',
    'Change one of the paths.',
  ],
  ROUTE_DUPLICATE: ['The same method and path is declared twice.', 'Delete one of the endpoints, or change its path.'],
  ROUTE_NO_BACKEND: ['An endpoint has no backend.', 'Add at least one backend.'],
  ROUTE_PATH: ['The path of an endpoint is not valid.', 'Correct the path as the message and its hint say.'],
  ROUTE_PATH_PARAMETERS: [
    'A path with a matrix parameter (`;a=b`) could reach a protected backend through an unprotected endpoint.',
    'Set `"path_parameters": "refuse"` in `router`.',
  ],
  ROUTE_PLACEHOLDER: [
    'A placeholder of a backend has no counterpart in the path of the endpoint, or is not valid.',
    'Correct the name; the hint shows the known placeholders.',
  ],
  ROUTE_RESERVED: [
    'The path belongs to the gateway itself, such as the health check.',
    'Choose another path, or move `health_path` or `ready_path`.',
  ],
  ROUTE_SHADOWED: [
    'A component serves a path that an endpoint with variables also matches: such requests never reach the endpoint.',
    'Change the path of the endpoint, or of the component, or ignore the warning if that is intended.',
  ],
  ROUTE_UNREACHABLE: ['No request can reach the endpoint: its virtual host does not exist.', 'Correct the host name.'],
  SPLIT_BACKEND: [
    'A variant of a split names a backend that does not exist or is a shadow.',
    'Correct the position; the first backend is 0.',
  ],
  SPLIT_NAME: ['Two variants of a split have the same name.', 'Rename one of them.'],
  SPLIT_NEVER: ['A variant has neither a `weight` nor a `match`.', 'Set `weight` or `match`, or remove the variant.'],
  SPLIT_RAW: [
    'A variant has several backends, but the output encoding passes the response of a single one.',
    'Keep one backend in each variant, or use an output encoding such as `json`.',
  ],
  SPLIT_STICKY: [
    'The name of the header, cookie or claim that is compared or hashed is missing or not valid.',
    'Set `key` to the name of the header, cookie or claim.',
  ],
  SPLIT_WEIGHTS: ['No variant of a split has a weight.', 'Set a `weight` greater than 0.'],
  SD_HOSTS: ['Only the first host is resolved by this service discovery.', 'Keep one host.'],
  SD_RECORD: [
    'The host is not the name of an SRV record.',
    'Write the host as `_http._tcp.users.internal`, without a scheme and a port.',
  ],
  SD_SCHEME: [
    'The host has a scheme, but discovered hosts are called by `sd_scheme`.',
    'Remove the scheme from the host and set `sd_scheme`.',
  ],
  SD_SCHEME_UNUSED: ['`sd_scheme` has no effect on static hosts.', 'Write the scheme in `host`.'],
  SHAPE_ALLOW_DENY: ['`deny` has no effect next to `allow`.', 'Remove `deny`.'],
  SHAPE_EMPTY: [
    'The response is always empty: its encoding never decodes the body.',
    'Use an encoding that decodes, such as `json`.',
  ],
  SHAPE_MAPPING: ['A field that is renamed has been removed before.', 'Remove the mapping, or keep the field.'],
  SHAPE_PATH: ['A path in `target`, `allow` or `deny` can never match a field.', 'Correct the path.'],
  SHAPE_UNREAD: [
    'A filter has no effect: the encoding never decodes the body.',
    'Remove the filter, or decode the body.',
  ],
  TIMEOUT_CUT: [
    '`write_timeout` is shorter than the timeout of an endpoint and ends its responses early.',
    'Raise `write_timeout`, or set it to `"0s"`.',
  ],
  TIMEOUT_UNUSED: ['A timeout never applies, because another one is shorter.', 'Lower or remove the timeout.'],
  URL_PATTERN_HOST: ['`url_pattern` contains a host.', 'Write the host in `host`, and only the path in `url_pattern`.'],
  URL_PATTERN_WILDCARD: [
    '`*` in `url_pattern` is sent literally.',
    'Remove the `*`: the path matched by the wildcard is appended automatically.',
  ],
};

/** Error codes of ports, proxies and TLS. */
export const serverErrors: Codes = {
  ADMIN_ALLOWED_IP: ['An entry of `allowed_ips` is not an address or a range.', 'Write the entry as `10.0.0.0/8`.'],
  ADMIN_LISTEN: [
    'The address of the admin API is not valid or cannot be opened.',
    'Write the address as `127.0.0.1:9180` or `unix:/path`, and check that no other process uses it.',
  ],
  ADMIN_TOKEN_ID: ['Two admin tokens have the same `id`.', 'Give each token a different `id`.'],
  DNS_CACHE_TTL: ['`dns_cache_ttl` is less than 1 second.', 'Write `"1s"` or more.'],
  LISTEN_ADDRESS: [
    '`listen_ip` is neither an IP address nor a Unix socket.',
    'Write an address such as `127.0.0.1`, without a port, or `unix:/run/sluice/gateway.sock`.',
  ],
  LISTEN_SOCKET_MODE: ['`socket_mode` is not an octal file mode.', 'Write it as `"0660"`.'],
  LISTEN_FAILED: [
    'The public port cannot be opened: it is in use, or permissions are missing.',
    'Stop the other process (`ss -ltnp`), or choose another `port`. Ports below 1024 need `CAP_NET_BIND_SERVICE`.',
  ],
  LISTEN_UNUSED: [
    '`port` is set next to a Unix socket, or `socket_mode` without one.',
    'Remove the field, or correct `listen_ip`.',
  ],
  LISTENER_BIND: [
    'A port of the new configuration cannot be opened. The previous configuration keeps serving.',
    'Free the port, or choose another one.',
  ],
  LISTENER_TAKEN: ['Two components listen at the same address.', 'Change one of the addresses.'],
  PROXY_PROTOCOL_ANYONE: [
    'Every address is trusted to send a PROXY protocol header, so any client can claim any address.',
    'List the addresses of your load balancers in `proxy_protocol.trusted`.',
  ],
  PROXY_PROTOCOL_TRUSTED: [
    'An entry of `proxy_protocol.trusted` is not an address, a range or `unix:`.',
    'Write the entry as `10.0.0.0/8`.',
  ],
  ROUTER_IP_HEADER: ['An entry of `remote_ip_headers` is not a valid header name.', 'Correct the name.'],
  ROUTER_NO_TRUSTED_PROXIES: [
    '`forwarded_by_client_ip` has no effect without `trusted_proxies`.',
    'List the addresses of your proxies in `trusted_proxies`.',
  ],
  ROUTER_PROXIES_UNUSED: [
    '`trusted_proxies` has no effect without `forwarded_by_client_ip` or `request_id`.',
    'Set one of the two, or remove the list.',
  ],
  ROUTER_REQUEST_ID: ['The header for request IDs is not valid.', 'Use `X-Request-Id`.'],
  ROUTER_TRUSTED_PROXY: [
    'An entry of `trusted_proxies` is not an address or a range.',
    'Write the entry as `10.0.0.0/8`.',
  ],
  CLIENT_CERT_UNUSED: [
    'Backends never get `X-Forwarded-Client-Cert`, because clients present no certificate.',
    'Set `tls.enable_mtls`, or remove `forward_client_cert`.',
  ],
  CLIENT_TLS_CERTS: [
    'Several client certificates have the same kind of key, so only the first is offered.',
    'Keep one certificate for each kind of key.',
  ],
  CLIENT_TLS_CIPHER: ['The runtime does not support a cipher suite for backends.', 'Remove the cipher suite.'],
  CLIENT_TLS_FILE: ['A certificate or key for backends cannot be read.', 'Correct the path or the permissions.'],
  CLIENT_TLS_INVALID: [
    'A file for TLS with backends is not valid PEM, or key and certificate do not match.',
    'Replace the file; `openssl x509 -in FILE -noout -text` shows what it contains.',
  ],
  CLIENT_TLS_VERSION: [
    'The lowest TLS version for backends is above the highest.',
    'Correct `min_version` and `max_version`.',
  ],
  TLS_CIPHER: ['The runtime does not support a cipher suite.', 'Remove the cipher suite.'],
  TLS_CLIENTS_NOBODY: [
    'Mutual TLS is enabled, but no certificate authority is trusted: no client could connect.',
    'Add `ca_certs`, or keep the system trust store.',
  ],
  TLS_CLIENTS_PUBLIC: [
    'Mutual TLS trusts the system store: any client with a publicly issued certificate is admitted.',
    'Set `"disable_system_ca_pool": true` and list your own authorities in `ca_certs`.',
  ],
  TLS_EXPIRY: ['The certificate has expired or expires soon.', 'Renew the certificate.'],
  TLS_FILE: ['A certificate or key of the server cannot be read.', 'Correct the path or the permissions.'],
  TLS_H2C: ['With TLS, `use_h2c` has no effect: HTTP/2 is always offered.', 'Remove `use_h2c`.'],
  TLS_INVALID: [
    'A certificate or key is not valid PEM, or the key does not match the certificate.',
    'Replace the file; `openssl x509 -in FILE -noout -text` shows what it contains.',
  ],
  TLS_KEYS: ['TLS is configured without a certificate or without a key.', 'Set both `public_key` and `private_key`.'],
  TLS_OLD_SUITES: [
    'No cipher suite supports versions below TLS 1.2: the configured minimum is never negotiated.',
    'Add a suite for the older version, or raise `min_version`.',
  ],
  TLS_VERSION: ['The lowest TLS version is above the highest.', 'Correct `min_version` and `max_version`.'],
};
