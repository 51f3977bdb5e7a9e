/**
 * Node loads this module first in a process of tests: it writes each exchange over HTTP/1.1 that one of its servers has ended,
 * as a line of JSON, to a file of its own in the folder of RECORD_EXCHANGES. The tests do not notice.
 */
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

/** Longer bodies are what attackers send: Prism reads no such one. */
const MAX_BODY_BYTES = 1_000_000
const folder = process.env.RECORD_EXCHANGES

// A process that a test starts has its options, but perhaps not its variables.
if (folder !== undefined) subscribe('http.server.request.start', record)

function record({ request, response }) {
  const sent = collect(request, ['push'])
  const answered = collect(response, ['write', 'end'])
  response.once('finish', () => {
    if (sent.bytes > MAX_BODY_BYTES || answered.bytes > MAX_BODY_BYTES) return
    // `writeHead` may leave headers nowhere else.
    const [, ...lines] = response._header.trimEnd().split('\r\n')
    const exchange = {
      method: request.method,
      url: request.url,
      requestHeaders: request.rawHeaders,
      requestBody: Buffer.concat(sent.chunks).toString('base64'),
      status: response.statusCode,
      responseHeaders: lines.flatMap((line) => splitHeader(line)),
      responseBody: Buffer.concat(answered.chunks).toString('base64'),
    }
    appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), `${JSON.stringify(exchange)}\n`)
  })
}

/** Keeps a copy of what passes these methods of a stream. */
function collect(stream, methods) {
  const collected = { chunks: [], bytes: 0 }
  for (const name of methods) {
    const method = stream[name]
    stream[name] = (chunk, encoding, ...rest) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) keep(chunk, encoding)
      return method.call(stream, chunk, encoding, ...rest)
    }
  }
  return collected

  function keep(chunk, encoding) {
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
        : Buffer.from(chunk)
    collected.bytes += bytes.length
    if (collected.bytes <= MAX_BODY_BYTES) collected.chunks.push(bytes)
  }
}

function splitHeader(line) {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
