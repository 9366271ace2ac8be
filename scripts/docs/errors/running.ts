import type { Codes } from './codes.ts';

/** Error codes of configuration changes, workers, commands and the library. */
export const changeErrors: Codes = {
  CHANNEL_CLOSED: [
    'A worker exited before it responded to the main process.',
    'Look for the reason of the exit in the log. The worker is restarted automatically.',
  ],
  CHANNEL_TIMEOUT: [
    'A worker did not respond in time.',
    'Look for code that blocks the event loop: `gateway_plugin_blocking_seconds` and the log name the plugin.',
  ],
  COMMIT_FAILED: [
    'The configuration is active, but a part of the gateway has not switched to it.',
    'Read the cause in the message, correct it and reload.',
  ],
  CONFIG_RETIRED: [
    'The request arrived while its configuration was being replaced. The client gets 503.',
    'Retry. If it happens often, look for reloads in quick succession.',
  ],
  CONNECT_CERTIFICATE: [
    '`check --connect` reached a server whose certificate is not accepted.',
    'Add its certificate authority to `client_tls.ca_certs`, or renew the certificate.',
  ],
  CONNECT_FAILED: ['`check --connect` could not connect to a server.', 'Read the reason in the message.'],
  CONNECT_GREETING: [
    '`check --connect` connected, but the server does not speak the expected protocol.',
    'Check the port and the scheme of the address.',
  ],
  CONNECT_NAME: [
    '`check --connect` could not resolve the host name of a server.',
    'Correct the name, or the DNS of the machine.',
  ],
  CONNECT_REFUSED: [
    '`check --connect` found no process at the address of a server.',
    'Start the server, or correct the port.',
  ],
  CONNECT_TIMEOUT: [
    '`check --connect` got no response from a server in time.',
    'Check firewalls and routes between the gateway and the server.',
  ],
  CONNECT_TLS: [
    '`check --connect` could not complete the TLS handshake with a server.',
    'Check that the port uses TLS, and the permitted versions.',
  ],
  GATEWAY_CLOSED: ['An operation was called on a gateway that is shutting down.', 'Start a new gateway.'],
  GUARD_SUPERSEDED: [
    'A guarded change ended early, because another revision replaced it.',
    'Repeat the change on the current revision if it is still needed.',
  ],
  INJECT_OPTIONS: [
    '`inject()` was called with an option that is not valid.',
    'Correct the option that the message names.',
  ],
  LISTEN_OPTIONS: [
    '`listen()` was called with an option that is not valid.',
    'Correct the option that the message names.',
  ],
  PREPARE_TIMEOUT: [
    'A worker could not prepare the new configuration. The previous configuration stays active.',
    'Read the reason in the message; a slow plugin or an unreachable dependency is the usual cause.',
  ],
  RELOAD_CANCELLED: [
    'A change was canceled because a later change replaced it or the gateway is stopping.',
    'None, if the later change is active.',
  ],
  RELOAD_IN_PROGRESS: ['Another change is being applied.', 'Wait for the other change to finish, and repeat yours.'],
  REPLAY_DIFFERENCE: [
    'Recorded requests would receive other responses from the new configuration, and the change was requested with `replay=strict`. The previous configuration stays active.',
    'Correct the configuration. If the difference is intended, accept it with `--accept` or `replay_accept`. `sluice record` and `sluice replay` show the values.',
  ],
  REPLAY_FAILED: [
    'The replay that the change was requested with (`replay=strict`) did not finish: the configurations cannot be opened in a process of their own, or it took more than 60 seconds or 512 MiB.',
    'Read the reason in the message; replay fewer requests, or apply the change without strict mode.',
  ],
  SHADOW_FAILED: [
    'The process of a shadow run could not be started, or did not build both configurations within 60 seconds and 512 MiB.',
    'Read the reason in the message; check the limits of the system for processes and memory.',
  ],
  SHARED_UNKNOWN: ['A worker used a shared value that no longer exists.', 'Report it as a bug, with the log.'],
  SOURCE_UNAVAILABLE: [
    'The store of the configuration cannot be read, or has none, and the state directory has no copy of it.',
    'Read the reason in the message. Check the address, the credentials in `GATEWAY_SOURCE_*` and the network; write a configuration with `sluice push`.',
  ],
  WARM_UP: [
    'A component was not ready for the new configuration within 10 seconds. The previous configuration stays active.',
    'Check the server that the message names, such as a key server, a broker or Redis.',
  ],
};

/** Error codes of requests: limits, bodies, cancellation, backends. */
export const requestErrors: Codes = {
  BODY_CONSUMED: [
    'A component reads a request body that was already sent to a backend.',
    'Read the body before the request is sent to the backend, or buffer it.',
  ],
  BODY_TOO_LARGE: ['A body is larger than the limit of the component that reads it.', 'Raise the limit, or send less.'],
  CALL_CANCELLED: [
    'The client disconnected, or the result of the call was no longer needed.',
    'None; if frequent, compare the timeouts of your clients with the timeout of the endpoint.',
  ],
  CALL_DEADLINE: [
    'The timeout of the endpoint or backend ended the call.',
    'Find the slow backend with `gateway_endpoint_duration_seconds` or traces, or raise `timeout`.',
  ],
  CALL_REFUSED: [
    'A component rejected the call to a backend with a status of its own.',
    'See the log line of that component.',
  ],
  DISPATCH_LOOP: [
    'Endpoints call one another in a loop. The client gets 508.',
    'Change the endpoints so that they do not form a loop.',
  ],
  GATEWAY_FAULT: [
    'An internal error. The log contains the stack trace.',
    'Report it as a bug, with the log lines of the request.',
  ],
  FORM_TOO_LARGE: ['A form has more than 1,000 fields. The client gets 413.', 'Send fewer fields.'],
  PATTERN_LIMIT: [
    'A text is too long for the regular expression that is applied to it.',
    'Shorten the input, or simplify the expression.',
  ],
  PAYLOAD_TOO_LARGE: [
    'The request body exceeds the limit. The client gets 413.',
    'Raise `max_payload`, or the limit of the component in the message.',
  ],
  PIPE_COMPONENT: [
    'A component cannot be used in this place, for example in an agent or a workflow.',
    'Move it to the endpoint, or remove it.',
  ],
  PIPE_INVALID: [
    'The pipeline of a workflow, tool or agent is not valid, so it cannot be called.',
    'Correct the errors that `check` reports for it.',
  ],
  REQUEST_GZIP: [
    'The request body is not valid gzip. The client gets 400.',
    'Correct the body or its `Content-Encoding`.',
  ],
  REQUEST_VALUE_MISSING: [
    'The request has no value for a placeholder in `url_pattern` or in another field of the backend. The client gets 400.',
    'Send the value with the request, or remove the placeholder from the configuration.',
  ],
  UPGRADE_REFUSED: [
    'A backend switched protocols although the client did not request it.',
    'Correct the backend; for WebSockets, configure `websocket`.',
  ],
  BACKEND_ADDRESS: [
    'The address of a backend is not valid.',
    'Correct `host`, or the record that service discovery returns.',
  ],
  BACKEND_ATTEMPT_TIMEOUT: [
    'An attempt took longer than `attempt_timeout` of `backend/retry`, and no further attempt was made.',
    'Raise the timeout, or allow more attempts.',
  ],
  BACKEND_BODY: [
    'The response body of a backend could not be read.',
    'Read the cause in the message; see the log of the backend.',
  ],
  BACKEND_CONNECT_TIMEOUT: [
    'Connecting to a backend took too long.',
    'Check network and load of the backend, or `dialer_timeout`.',
  ],
  BACKEND_DENIED: ['A backend is the admin port of this gateway, which is never called.', 'Use another host.'],
  BACKEND_DNS: ['The name of a backend cannot be resolved.', 'Correct the name, or the DNS of the machine.'],
  BACKEND_ENCODING: [
    'The response body of a backend does not match its `encoding`.',
    'Set the `encoding` that the backend uses, or `no-op` to pass it undecoded.',
  ],
  BACKEND_FAILED: [
    'A call to a backend failed because of the operating system, for example because no file descriptors were left.',
    'Read the reason in the message; raise `ulimit -n`.',
  ],
  BACKEND_FRAMING: ['A stream of a backend is not well-formed.', 'Correct the backend, or pass the stream undecoded.'],
  BACKEND_GZIP: ['A compressed body of a backend is not valid.', 'Correct the backend, or disable its compression.'],
  BACKEND_HEADER_TIMEOUT: [
    'A backend sent no response headers in time.',
    'Find out why the backend is slow, or raise `response_header_timeout`.',
  ],
  BACKEND_MALFORMED: [
    'The response of a backend is not valid HTTP.',
    'Check that host, port and protocol are correct.',
  ],
  BACKEND_NO_HOSTS: ['The service discovery returned no host.', 'Check the record, and that instances are registered.'],
  BACKEND_PROXY: [
    'The forward proxy is unreachable or rejected the connection.',
    'Check `proxy_address` and the proxy.',
  ],
  BACKEND_REDIRECT: [
    'The backend sent a redirect that cannot be followed.',
    'Correct the backend, or set `no_redirect`.',
  ],
  BACKEND_REDIRECTS: ['A backend sent too many redirects.', 'Correct the backend, or call the final address.'],
  BACKEND_REFUSED: ['Nothing listens at the address of the backend.', 'Start the backend, or correct host and port.'],
  BACKEND_REQUEST_INVALID: [
    'The request cannot be sent, for example because a header value is not valid.',
    'Correct the value that the message names.',
  ],
  BACKEND_RESET: [
    'A backend closed the connection before the response was complete.',
    'Look for crashes of the backend and for its idle timeout.',
  ],
  BACKEND_STATUS: [
    'A backend responded with an error status.',
    'See the log of the backend; `backend/http` can pass the status to the client.',
  ],
  BACKEND_TLS: [
    'TLS with a backend failed.',
    'Add its certificate authority to `client_tls.ca_certs`, or correct the name in `host`.',
  ],
  BACKEND_UNREACHABLE: ['The network has no route to the backend.', 'Check routes and firewalls.'],
  BACKEND_UNUSED: ['A component called a backend that it should never call.', 'Report it as a bug.'],
  FILE_CHANGED: [
    'A file was truncated while it was sent.',
    'Replace files by renaming, rather than by writing in place.',
  ],
  FILE_STALLED: ['Reading a file was canceled.', 'Check the file system, such as an unreachable network mount.'],
  HTTP_SOCKET: [
    'A setting of the client cannot be combined with a Unix socket as the host.',
    'Remove `http2` or `proxy_address`, or call the backend over TCP.',
  ],
  HTTP2_UNUSABLE: ['`http2` cannot be combined with another setting of the client.', 'Remove one of the two.'],
  PROXY_PROTOCOL_UNUSABLE: [
    '`proxy_protocol` cannot be combined with another setting of the client.',
    'Remove one of the two.',
  ],
  HTTP_PROXY_ADDRESS: [
    'The address of the forward proxy is not valid.',
    'Write it as `http://host:port`, `https://host:port` or `socks5://host:port`.',
  ],
  STATIC_METHOD: ['Files can be requested with GET and HEAD only. The client gets 405.', 'Use GET.'],
  STATIC_READ: ['A file does not exist or cannot be read.', 'Check the path and the permissions.'],
};
