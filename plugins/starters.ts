/** A small annotated configuration, by file extension of each format. All three are equivalent. */
export const starters: Readonly<Record<'json' | 'yaml' | 'toml', string>> = {
  json: `{
  "version": 3,
  "name": "my-gateway",
  "port": 8080,

  "@host": "Base addresses of your service. Several share the load. A backend can name its own.",
  "host": ["http://127.0.0.1:9000"],

  "@timeout": "Timeout of all backends of a request. Endpoints can set their own.",
  "timeout": "3s",

  "endpoints": [
    {
      "@endpoint": "Clients call GET /users/42; {id} is passed to the backend.",
      "endpoint": "/users/{id}",

      "@input_query_strings": "Only the query parameters and headers listed here reach a backend.",
      "input_query_strings": ["lang"],

      "@backend": "Add more backends to merge their responses.",
      "backend": [{ "url_pattern": "/api/users/{id}" }],

      "@extra_config": "Components: here, at most 10 requests per second for each client address.",
      "extra_config": { "qos/ratelimit/router": { "client_max_rate": 10, "strategy": "ip" } }
    }
  ],

  "extra_config": {
    "telemetry/logging": { "level": "INFO", "stdout": true }
  }
}
`,
  yaml: `version: 3
name: my-gateway
port: 8080

# Base addresses of your service. Several share the load. A backend can name its own.
host:
  - http://127.0.0.1:9000

# Timeout of all backends of a request. Endpoints can set their own.
timeout: 3s

endpoints:
  # Clients call GET /users/42; {id} is passed to the backend.
  - endpoint: /users/{id}
    # Only the query parameters and headers listed here reach a backend.
    input_query_strings: [lang]
    # Add more backends to merge their responses.
    backend:
      - url_pattern: /api/users/{id}
    # Components: here, at most 10 requests per second for each client address.
    extra_config:
      qos/ratelimit/router: { client_max_rate: 10, strategy: ip }

extra_config:
  telemetry/logging: { level: INFO, stdout: true }
`,
  toml: `version = 3
name = "my-gateway"
port = 8080

# Base addresses of your service. Several share the load. A backend can name its own.
host = ["http://127.0.0.1:9000"]

# Timeout of all backends of a request. Endpoints can set their own.
timeout = "3s"

[extra_config."telemetry/logging"]
level = "INFO"
stdout = true

[[endpoints]]
# Clients call GET /users/42; {id} is passed to the backend.
endpoint = "/users/{id}"
# Only the query parameters and headers listed here reach a backend.
input_query_strings = ["lang"]

# Components: here, at most 10 requests per second for each client address.
[endpoints.extra_config."qos/ratelimit/router"]
client_max_rate = 10
strategy = "ip"

# Add more backends to merge their responses.
[[endpoints.backend]]
url_pattern = "/api/users/{id}"
`,
};
