import { root, router, table } from './refused-table.ts';

// One row, one mistake: title, fragment, pointer, message, and the hint where there is one.

describe('a refused configuration of the service', () => {
  // biome-ignore format: a row is a line
  table('the root', root, [
    ['an unknown field', { ednpoints: [] }, '/ednpoints', "unknown key 'ednpoints'", 'endpoints'],
    ['an unknown field unlike any other', { zzzzzz: 1 }, '/zzzzzz', "unknown key 'zzzzzz'"],
    ['a field in the wrong letter case', { Port: 80 }, '/Port', "unknown key 'Port'", 'port'],
    ['a field with a dash for the underscore', { 'cache-ttl': '1s' }, '/cache-ttl', "unknown key 'cache-ttl'", 'cache_ttl'],
    ['a field of the endpoint', { concurrent_calls: 3 }, '/concurrent_calls', "unknown key 'concurrent_calls'"],
    ['no version', { version: undefined }, '', 'unsupported version: none (want: 3)'],
    ['version 1', { version: 1 }, '/version', 'unsupported version: 1 (want: 3)'],
    ['version 4', { version: 4 }, '/version', 'unsupported version: 4 (want: 3)'],
    ['a version as text', { version: '3' }, '/version', 'unsupported version: "3" (want: 3)'],
    ['a version with a fraction', { version: 3.5 }, '/version', 'unsupported version: 3.5 (want: 3)'],
    ['a version that is null', { version: null }, '/version', 'unsupported version: null (want: 3)'],
    ['a name that is a number', { name: 5 }, '/name', "'name' must be a string, found 5"],
    ['a port as text', { port: '8080' }, '/port', '\'port\' must be an integer, found "8080"'],
    ['a negative port', { port: -1 }, '/port', "'port' must be 0 or more, found -1"],
    ['a port beyond the last', { port: 65536 }, '/port', "'port' must be 65535 or less, found 65536"],
    ['a port with a fraction', { port: 80.5 }, '/port', "'port' must be an integer, found 80.5"],
    ['a port that is null', { port: null }, '/port', "'port' must be an integer, found null"],
    ['a listen_ip that is a name', { listen_ip: 'localhost' }, '/listen_ip', 'invalid ip address localhost'],
    ['a listen_ip with a port', { listen_ip: '127.0.0.1:80' }, '/listen_ip', 'invalid ip address 127.0.0.1:80'],
    ['a listen_ip in brackets', { listen_ip: '[::1]' }, '/listen_ip', 'invalid ip address [::1]'],
    ['a listen_ip that is no text', { listen_ip: 1 }, '/listen_ip', "'listen_ip' must be a string, found 1"],
    ['endpoints that are an object', { endpoints: {} }, '/endpoints', "'endpoints' must be a list, found an object"],
    ['endpoints that are null', { endpoints: null }, '/endpoints', "'endpoints' must be a list, found null"],
    ['an endpoint that is text', { endpoints: ['/a'] }, '/endpoints/0', '\'endpoints[0]\' must be an object, found "/a"'],
    ['a flag as text', { debug_endpoint: 'true' }, '/debug_endpoint', '\'debug_endpoint\' must be true or false, found "true"'],
    ['a flag as a number', { echo_endpoint: 1 }, '/echo_endpoint', "'echo_endpoint' must be true or false, found 1"],
    ['disable_rest as text', { disable_rest: 'yes' }, '/disable_rest', '\'disable_rest\' must be true or false, found "yes"'],
    ['disable_keep_alives as null', { disable_keep_alives: null }, '/disable_keep_alives', "'disable_keep_alives' must be true or false, found null"],
    ['extra_config that is a list', { extra_config: [] }, '/extra_config', "'extra_config' must be an object, found a list"],
    ['extra_config that is text', { extra_config: 'router' }, '/extra_config', '\'extra_config\' must be an object, found "router"'],
    ['a size below zero', { max_header_bytes: -1 }, '/max_header_bytes', "'max_header_bytes' must be 0 or more, found -1"],
    ['a size as text', { max_header_bytes: '1MB' }, '/max_header_bytes', '\'max_header_bytes\' must be an integer, found "1MB"'],
    ['a size beyond what numbers hold', { max_header_bytes: 1e+300 }, '/max_header_bytes', "'max_header_bytes' must be 9007199254740991 or less, found 1e+300"],
    ['connections below zero', { max_idle_connections_per_host: -5 }, '/max_idle_connections_per_host', "'max_idle_connections_per_host' must be 0 or more, found -5"],
    ['a schema address that is no text', { $schema: 3 }, '/$schema', "'$schema' must be a string, found 3"],
    ['an output that is no text', { output_encoding: 7 }, '/output_encoding', "'output_encoding' must be a string, found 7"],
  ]);

  // biome-ignore format: a row is a line
  table('durations', root, [
    ['a bare number in quotes', { timeout: '2' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "2"'],
    ['a number', { timeout: 2000 }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found 2000'],
    ['an empty text', { timeout: '' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found ""'],
    ['an unknown unit', { timeout: '2d' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "2d"'],
    ['a unit alone', { timeout: 's' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "s"'],
    ['a space before the unit', { timeout: '2 s' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "2 s"'],
    ['a unit in upper case', { timeout: '2S' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "2S"'],
    ['a negative duration', { timeout: '-2s' }, '/timeout', '\'timeout\' must be a duration such as "1500ms" or "2s", found "-2s"'],
    ['null', { cache_ttl: null }, '/cache_ttl', '\'cache_ttl\' must be a duration such as "1500ms" or "2s", found null'],
    ['a word', { cache_ttl: 'never' }, '/cache_ttl', '\'cache_ttl\' must be a duration such as "1500ms" or "2s", found "never"'],
    ['two dots', { read_timeout: '1.2.3s' }, '/read_timeout', '\'read_timeout\' must be a duration such as "1500ms" or "2s", found "1.2.3s"'],
    ['a number after the last unit', { read_header_timeout: '1h30' }, '/read_header_timeout', '\'read_header_timeout\' must be a duration such as "1500ms" or "2s", found "1h30"'],
    ['a comma for the dot', { write_timeout: '1,5s' }, '/write_timeout', '\'write_timeout\' must be a duration such as "1500ms" or "2s", found "1,5s"'],
    ['an exponent', { idle_timeout: '1e3s' }, '/idle_timeout', '\'idle_timeout\' must be a duration such as "1500ms" or "2s", found "1e3s"'],
    ['more than 292 years', { dialer_timeout: '9999999h' }, '/dialer_timeout', '\'dialer_timeout\' must be a duration such as "1500ms" or "2s", found "9999999h"'],
    ['a list', { dialer_keep_alive: ['1s'] }, '/dialer_keep_alive', '\'dialer_keep_alive\' must be a duration such as "1500ms" or "2s", found a list'],
    ['true', { dialer_fallback_delay: true }, '/dialer_fallback_delay', '\'dialer_fallback_delay\' must be a duration such as "1500ms" or "2s", found true'],
    ['an object', { response_header_timeout: {} }, '/response_header_timeout', '\'response_header_timeout\' must be a duration such as "1500ms" or "2s", found an object'],
    ['zero without a unit', { idle_connection_timeout: '0' }, '/idle_connection_timeout', '\'idle_connection_timeout\' must be a duration such as "1500ms" or "2s", found "0"'],
    ['spaces around', { max_shutdown_wait_time: ' 1s ' }, '/max_shutdown_wait_time', '\'max_shutdown_wait_time\' must be a duration such as "1500ms" or "2s", found " 1s "'],
  ]);

  // biome-ignore format: a row is a line
  table('the router', router, [
    ['an unknown option', { return_error_message: true }, '/extra_config/router/return_error_message', "unknown key 'return_error_message' in 'router'", 'return_error_msg'],
    ['an option as text', { return_error_msg: 'true' }, '/extra_config/router/return_error_msg', '\'return_error_msg\' must be true or false, found "true"'],
    ['an unknown status in error_body', { error_body: { 500: {} } }, '/extra_config/router/error_body/500', "unknown key '500' in 'error_body'"],
    ['an error body that is text', { error_body: { 404: 'gone' } }, '/extra_config/router/error_body/404', '\'error_body[404]\' must be an object, found "gone"'],
    ['a health path without slash', { health_path: 'health' }, '/extra_config/router/health_path', '\'health_path\' must match ^/, found "health"'],
    ['paths that are text', { logger_skip_paths: '/a' }, '/extra_config/router/logger_skip_paths', '\'logger_skip_paths\' must be a list, found "/a"'],
    ['a payload limit below zero', { max_payload: -1 }, '/extra_config/router/max_payload', "'max_payload' must be 0 or more, found -1"],
    ['a payload limit as text', { max_payload: '1M' }, '/extra_config/router/max_payload', '\'max_payload\' must be an integer, found "1M"'],
    ['decompress_gzip as text', { decompress_gzip: 'yes' }, '/extra_config/router/decompress_gzip', '\'decompress_gzip\' must be true or false or an integer, found "yes"'],
    ['a proxy that is a name', { forwarded_by_client_ip: true, trusted_proxies: ['proxy.local'] }, '/extra_config/router/trusted_proxies/0', '"proxy.local" is neither an address nor a range such as "10.0.0.0/8"'],
    ['a range with too many bits', { forwarded_by_client_ip: true, trusted_proxies: ['10.0.0.0/8', '10.0.0.0/33'] }, '/extra_config/router/trusted_proxies/1', '"10.0.0.0/33" is neither an address nor a range such as "10.0.0.0/8"'],
    ['an IPv6 range with too many bits', { forwarded_by_client_ip: true, trusted_proxies: ['::/129'] }, '/extra_config/router/trusted_proxies/0', '"::/129" is neither an address nor a range such as "10.0.0.0/8"'],
    ['a range without bits', { forwarded_by_client_ip: true, trusted_proxies: ['10.0.0.0/'] }, '/extra_config/router/trusted_proxies/0', '"10.0.0.0/" is neither an address nor a range such as "10.0.0.0/8"'],
    ['a bad header for addresses', { remote_ip_headers: ['X Real'] }, '/extra_config/router/remote_ip_headers/0', '"X Real" cannot be the name of a header'],
    ['a list instead of options', [], '/extra_config/router', "'router' must be an object, found a list"],
  ]);
});
