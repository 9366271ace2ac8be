import type { Codes } from './codes.ts';

/** Error codes of gRPC, GraphQL, Lambda and WebSockets. */
export const protocolErrors: Codes = {
  AWS_BODY: ['The body is too large to be signed.', 'Send a smaller body.'],
  AWS_REDIRECT: [
    'The backend redirects to another host, for which the signature is not valid.',
    'Set `host` to the host that the redirect names.',
  ],
  GRAPHQL_BODY: [
    'The request body cannot be used as the variables of a mutation. The client gets 400.',
    'Send a JSON object.',
  ],
  GRAPHQL_DOCUMENT: ['The file with the GraphQL query is empty.', 'Write the query into the file.'],
  GRAPHQL_MUTATION_GET: ['GraphQL servers reject mutations over GET.', 'Set `"method": "POST"`.'],
  GRAPHQL_RAW: ['The response of a GraphQL server must be decoded.', 'Use another encoding than `no-op`.'],
  GRAPHQL_TYPE: ['The operation type is not valid.', 'Write `query` or `mutation`.'],
  GRAPHQL_VARIABLE: [
    'A variable refers to a parameter that the path does not have.',
    'Use a parameter that the hint lists.',
  ],
  GRPC_BODY: ['The request body is not valid for the method. The client gets 400.', 'Send a JSON object.'],
  GRPC_CALL: ['A gRPC call of a client to the gateway failed.', 'Read the gRPC status and the message.'],
  GRPC_CATALOG: ['`backend/grpc` needs message descriptors.', 'Add a `grpc` catalog to the root.'],
  GRPC_CATALOG_FILES: ['The catalog has too many files, or a directory without any.', 'Correct `catalog`.'],
  GRPC_CATALOG_IMPORT: [
    'A descriptor imports a file that is missing, or files import one another.',
    'Create the set with `protoc --include_imports`.',
  ],
  GRPC_CATALOG_INVALID: ['A descriptor set is not valid.', 'Create the set again with `protoc --descriptor_set_out`.'],
  GRPC_CATALOG_SOURCE: [
    'A `.proto` file cannot be used directly.',
    'Name the directory of the file, or compile the file to a descriptor set.',
  ],
  GRPC_CATALOG_TWICE: ['The catalog contains a descriptor twice.', 'Keep one of the files.'],
  GRPC_FIELD: ['The message has no field of this name.', 'Correct the name.'],
  GRPC_HOST: ['The address of a gRPC server is not valid.', 'Write `name:port`, without a path.'],
  GRPC_MESSAGE: [
    'A message cannot be decoded, or a stream exceeds its limit.',
    'Check that the descriptors match the server.',
  ],
  GRPC_METADATA: ['A metadata key is not valid.', 'Use letters, digits, `_`, `-` and `.`.'],
  GRPC_METHOD: [
    'The catalog does not contain the method, or the method cannot be used here.',
    'Write `/package.Service/Method`.',
  ],
  GRPC_METHOD_TWICE: ['A method is published twice.', 'Delete one of the two.'],
  GRPC_OUTPUT: [
    'This output encoding cannot represent gRPC messages.',
    'Use `json`, or `ndjson` and `sse` for streams.',
  ],
  GRPC_PLAINTEXT: ['A host uses `https`, but TLS is not configured.', 'Add `"client_tls": {}`.'],
  GRPC_SERVICE: ['The catalog does not contain the service.', 'Write the name with its package.'],
  GRPC_STATUS: ['A gRPC backend responded with an error status.', 'See the log of the backend.'],
  GRPC_VALUE: [
    'A parameter cannot be converted to the type of its field. The client gets 400.',
    'Send a value of the right type.',
  ],
  LAMBDA_ENDPOINT: ['`endpoint` is not a valid URL.', 'Correct the URL, or remove it to call AWS.'],
  LAMBDA_FUNCTION: ['The Lambda function failed.', 'See the log of the function.'],
  LAMBDA_NAME: [
    'The name of the Lambda function is missing, or one of its settings has no effect.',
    'Set `function_name`, or a path parameter.',
  ],
  LAMBDA_PAYLOAD: [
    'The payload of the Lambda function is not a JSON object, as the encoding requires.',
    'Return JSON.',
  ],
  LAMBDA_REGION: ['The AWS region is missing or not valid.', 'Set `region`, or `AWS_REGION`.'],
  LAMBDA_STATUS: [
    'AWS responded to the invocation with an error status.',
    'Check the name of the function and the permissions.',
  ],
  OPENAPI_CONTENT_TYPE: ['A content type is described twice.', 'Remove one of the two.'],
  OPENAPI_EXAMPLE: ['An example cannot be used in this place.', 'Move the example into the schema, as `examples`.'],
  OPENAPI_OPERATION_ID: ['An `operation_id` is used twice.', 'Use different names.'],
  OPENAPI_PARAMETER: [
    'A described parameter does not belong to the endpoint.',
    'Correct the name, or remove the description.',
  ],
  OPENAPI_REF: [
    'A reference to a schema or a parameter cannot be resolved.',
    'Add the schema or parameter to `components_schemas` or `components_parameters` at the service level.',
  ],
  OPENAPI_SCHEMA: ['A schema of the documentation is not valid.', 'Correct the configuration as the message says.'],
  OPENAPI_SCHEME: ['A security scheme is not defined.', 'Define the scheme in `custom_security_schemes`.'],
  OPENAPI_STATUS: [
    'The description of a response is not valid.',
    'Use a status such as `"200"`, or `"default"`, with an object.',
  ],
  WEBSOCKET_BACKENDS: ['A WebSocket has exactly one backend.', 'Keep one.'],
  WEBSOCKET_DIAL: [
    'The WebSocket of the backend cannot be opened. The client gets 502.',
    'Check the backend and its path.',
  ],
  WEBSOCKET_DOWN: [
    'The shared connection to the backend is down. The client gets 502.',
    'Check the backend; the connection is retried.',
  ],
  WEBSOCKET_DURATION: ['A duration must be above 0.', 'Write a duration such as `"10s"`.'],
  WEBSOCKET_HOST: [
    'The host of a WebSocket is not valid.',
    'Write `ws://` or `wss://`, and set `disable_host_sanitize`.',
  ],
  WEBSOCKET_METHOD: ['WebSockets are opened with GET: the configured method is replaced.', 'Remove `method`.'],
  WEBSOCKET_PONG_WAIT: ['`pong_wait` must be longer than `ping_period`.', 'Raise `pong_wait`.'],
  WEBSOCKET_UNUSED: ['A setting of `websocket` has no effect.', 'Remove the setting.'],
};

/** Error codes of queues, publish and subscribe, and agents. */
export const queueErrors: Codes = {
  AMQP_ADDRESS: ['The address of RabbitMQ is not valid.', 'Write `amqp://user:password@host:5672/vhost`.'],
  AMQP_CONCURRENT: ['`concurrent_calls` consumes several messages for one request.', 'Set `"concurrent_calls": 1`.'],
  AMQP_FAILED: [
    'RabbitMQ is unreachable, or rejected an operation.',
    'Read the reason; check the broker and the permissions.',
  ],
  AMQP_HOSTS: ['Only the first host is used.', 'Keep one host.'],
  AMQP_PARAM: [
    'A setting refers to a path parameter that requests do not have.',
    'Use a parameter that the hint lists.',
  ],
  AMQP_PREFETCH: ['`prefetch_count` is below the number of workers.', 'Raise `prefetch_count`.'],
  AMQP_VALUE: [
    'The request has no valid value for a property of the message. The client gets 400.',
    'Send the value with the request.',
  ],
  AWS_FAILED: ['SNS or SQS responded with an error.', 'Check name, region and permissions.'],
  AZURE_FAILED: [
    'Azure Service Bus is unreachable, or rejected an operation.',
    'Check the connection string and the permissions.',
  ],
  BROKER_NOT_CONNECTED: ['The connection to the broker is down.', 'Check the broker; the connection is retried.'],
  GCP_FAILED: ['Google Pub/Sub is unreachable, or rejected an operation.', 'Check the credentials and the names.'],
  KAFKA_BROKER: ['The address of a broker is not a host and a port.', 'Write `kafka.internal:9092`.'],
  KAFKA_CLIENT_ID: ['`client_id` contains white space.', 'Remove the white space.'],
  KAFKA_DURATION: ['A duration must be above 0.', 'Write a duration such as `"1s"`.'],
  KAFKA_FAILED: ['Kafka is unreachable, or rejected an operation.', 'Read the reason; check brokers, topic and ACLs.'],
  KAFKA_GROUP: ['The settings of the consumer group are not valid.', 'Correct the configuration as the message says.'],
  KAFKA_KEY: [
    'Records have no key, because the header with the key is not forwarded.',
    'Add the header to `input_headers`.',
  ],
  KAFKA_OPTION: ['A setting of Kafka is not supported.', 'Remove the setting, or follow the message.'],
  KAFKA_SASL: ['The SASL mechanism needs credentials.', 'Set user and password, or the token.'],
  KAFKA_SIZE: ['A record is larger than the limit.', 'Send less, or raise the limit here and at the broker.'],
  KAFKA_SLOW: ['Too many records wait to be written.', 'Check the brokers, or lower the rate.'],
  KAFKA_TOPIC: ['The topic name is not valid.', 'Use letters, digits, `.`, `_` and `-`.'],
  NATS_ADDRESS: ['The address of NATS is not valid.', 'Write `nats://host:4222`.'],
  NATS_FAILED: ['NATS is unreachable, or rejected an operation.', 'Check the server and the credentials.'],
  NATS_REFUSED: [
    'The account is not permitted to publish to the subject.',
    'Permit the account of the gateway to publish to the subject, in the configuration of the NATS server.',
  ],
  NATS_SLOW: ['Too many messages are waiting for confirmation by the server.', 'Check the server, or lower the rate.'],
  NATS_SUBJECT: ['The subject is not valid.', 'Correct the configuration as the message says.'],
  PUBSUB_ADDRESS: ['The address of a topic or subscription is not valid.', 'Write the address as in the hint.'],
  PUBSUB_CONCURRENT: ['`concurrent_calls` publishes the message several times.', 'Set `"concurrent_calls": 1`.'],
  PUBSUB_ENVIRONMENT: [
    'The environment variable with the address of the broker is missing or not valid.',
    'Set the variable that the message names.',
  ],
  PUBSUB_HOST: ['The backend has no host.', 'Set the scheme of the broker, such as `"host": ["nats://"]`.'],
  PUBSUB_HOSTS: ['Only the first host is used.', 'Keep one host.'],
  PUBSUB_PACKAGE: [
    'The client library of the broker is not installed.',
    'Run `npm install` with the package in the message.',
  ],
  PUBSUB_PARAMETER: [
    'The address has an unknown parameter, or one with a wrong value.',
    'Make the change that the hint proposes.',
  ],
  PUBSUB_SCHEME: [
    'The scheme is unknown, or cannot be used in this direction.',
    'Use one of the schemes that the hint lists.',
  ],
};

/** Error codes of logs, metrics and traces. */
export const telemetryErrors: Codes = {
  GELF_ADDRESS: ['The address of the GELF server is not valid.', 'Write host and port.'],
  INFLUX_ADDRESS: [
    'The address of InfluxDB is not valid, or contains credentials.',
    'Write `https://influx.internal:8086`.',
  ],
  INFLUX_CREDENTIALS: [
    'The credentials for InfluxDB cannot be sent.',
    'Set `username` without a colon, and `password`.',
  ],
  INFLUX_INSECURE: ['The password is sent without TLS.', 'Use `https://`.'],
  INFLUX_TLS: ['The TLS settings for InfluxDB are not valid.', 'Correct the configuration as the message says.'],
  INFLUX_TTL: ['The interval is too short or too long.', 'Write `"30s"`.'],
  LOGGING_CREDENTIALS: ['The pattern writes credentials to the log.', 'Remove the field from the pattern.'],
  LOGGING_LEVEL: ['The log level is unknown.', 'Use one of the levels that the hint lists.'],
  LOGGING_LINE_BREAK: [
    'The pattern does not end with a line break: one is added.',
    'End the pattern with a line break.',
  ],
  LOGGING_NOWHERE: [
    'The application log is not written, because neither `stdout` nor `syslog` is enabled.',
    'Set `stdout` or `syslog`.',
  ],
  LOGGING_PATTERN: ['A log pattern is missing or not valid.', 'Correct the pattern at the marked position.'],
  LOGGING_SYSLOG: ['The syslog socket takes datagrams only, which Node.js cannot send.', 'Use `stdout`.'],
  LOGGING_UNUSED: ['A pattern has no effect without `"format": "custom"`.', 'Set the format, or remove the pattern.'],
  METRICS_ADDRESS: ['The address of the metrics is not valid.', 'Write `:8090` or `host:port`.'],
  METRICS_WINDOW: ['The collection interval is less than a millisecond.', 'Write `"60s"`.'],
  MOESIF_TLS: ['The TLS settings for Moesif are not valid.', 'Correct the configuration as the message says.'],
  NEWRELIC_CREDENTIALS: [
    'A header with credentials is sent to New Relic.',
    'Remove the header from `headers_to_pass`.',
  ],
  NEWRELIC_LICENSE: ['The license key contains spaces or non-ASCII characters.', 'Copy the key again.'],
  NEWRELIC_OPENTELEMETRY: [
    'New Relic and OpenTelemetry cannot be combined.',
    'Remove one; the hint shows how OpenTelemetry sends to New Relic.',
  ],
  OPENCENSUS_ADDRESS: ['The address of the collector is not valid.', 'Write `collector:4317`.'],
  OPENCENSUS_BESIDE: ['OpenCensus cannot be combined with another component.', 'Remove `telemetry/opencensus`.'],
  OPENCENSUS_HEADER: ['A header for the collector is not valid.', 'Correct the header.'],
  OPENCENSUS_PROTOCOL: [
    'The collector must accept OTLP, which replaces the protocol of OpenCensus.',
    'Use the OTLP port of the collector.',
  ],
  OTEL_BUCKETS: ['The bucket boundaries of a histogram are not in ascending order.', 'Sort them.'],
  OTEL_EXPORTERS: ['No exporter is configured.', 'Add one to `otlp` or `prometheus`.'],
  OTEL_EXPORTER_NAME: ['Two exporters have the same name.', 'Use different names.'],
  OTEL_EXPORTER_UNKNOWN: ['The exporter is not declared.', 'Use one of the names that the hint lists.'],
  OTEL_HEADER: ['A header for an exporter is not valid.', 'Correct the name or the value.'],
  OTEL_HOST: ['The host of an exporter is not valid.', 'Write a host name or an IP address, and set `port`.'],
  OTEL_PORT: ['Two exporters listen at one address.', 'Use different ports.'],
  OTEL_PROPAGATORS: [
    '`OTEL_PROPAGATORS` contains an unknown name.',
    'Use names that the hint lists, separated by commas.',
  ],
  OTEL_SAMPLE_RATE: ['A sample rate of 0 disables tracing.', 'Write a rate above 0, or remove the setting.'],
  OTEL_TLS: ['The TLS settings of an exporter are not valid.', 'Correct the configuration as the message says.'],
};
