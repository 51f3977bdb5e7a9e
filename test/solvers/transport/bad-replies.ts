import { head, ok, replies, sends } from '../../support/solvers/malformed-solvers.js'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Solvers that send valid HTTP with a wrong reply. */
export const badReplies = [
  sends('a byte order mark before a good reply', 'quoted', (json) => ok(`\ufeff${json}`)),
  sends(
    'no content type, for only status and body count',
    'quoted',
    (json) => head(`content-length: ${json.length}`) + json,
  ),
  sends('an empty body', 'invalid malformed', () => ok('')),
  ...['[]', '7', '{}', nested(30_000)].map((body) =>
    replies(`the reply ${body.slice(0, 40)}`, 'invalid malformed', () => body),
  ),
  replies('an address nested 30000 levels deep', 'invalid malformed', ({ quote, signature }) =>
    JSON.stringify({ quote: { ...quote, solver: 0 }, signature }).replace(
      '"solver":0',
      `"solver":${nested(30_000)}`,
    ),
  ),
  replies('an extra field nested 500 levels deep', 'quoted', (reply) =>
    JSON.stringify({ extra: 0, ...reply }).replace('"extra":0', `"extra":${nested(500)}`),
  ),
  replies(
    'a reply under __proto__',
    'invalid malformed',
    (reply) => `{"__proto__":${JSON.stringify(reply)}}`,
  ),
  replies(
    'a quote under __proto__',
    'invalid solver_mismatch',
    ({ quote, signature }) => `{"quote":{"__proto__":${JSON.stringify(quote)}},"signature":"${signature}"}`,
  ),
  replies('a prototype next to a good reply', 'quoted', (reply) =>
    JSON.stringify(reply).replace(
      '{',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},',
    ),
  ),
  replies('a bare NUL in the JSON', 'invalid malformed', (reply) =>
    JSON.stringify(reply).replace('"nonce":"', '"nonce":"\0'),
  ),
  sends('invalid UTF-8 in an extra field', 'quoted', (json) =>
    ok(Buffer.from(json.replace('{', '{"extra":"\xc0\x80\xff",'), 'latin1')),
  ),
  sends('UTF-16', 'invalid malformed', (json) => ok(Buffer.from(json, 'utf16le'))),
]
