import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
}

/** A file of a page, which is served from memory, so that a slow client holds no file open. */
export interface StaticFile {
  /** Path below the folder, with `/` between folders. */
  readonly name: string
  readonly type: string
  readonly content: Buffer
  /** The content in gzip; undefined when it is only sent as it is. */
  readonly compressed?: Buffer | undefined
}

/** Reads a file of a folder. @param compressedName the name of its form in gzip, if it has one */
export function readStaticFile(folder: string, name: string, compressedName?: string): StaticFile {
  return {
    name,
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    content: readFileSync(join(folder, name)),
    compressed: compressedName === undefined ? undefined : readFileSync(join(folder, compressedName)),
  }
}

/** Sends a file, in gzip when it has that form and the client accepts it. */
export function sendStaticFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, content, compressed }: StaticFile,
): void {
  const isCompressed = compressed !== undefined && acceptsGzip(request.headers['accept-encoding'])
  const body = isCompressed ? compressed : content
  if (isCompressed) reply.header('content-encoding', 'gzip')
  if (compressed !== undefined) {
    // Also for the other encoding: a cache keeps them apart. CORS may have set a value before.
    const vary = reply.getHeader('vary')
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`)
  }
  sendSlices(reply.type(type), body)
}

/** Sends a body that all responses share. A client that does not read holds one slice of it. */
export function sendSlices(reply: FastifyReply, body: Buffer): void {
  reply.header('content-length', body.length).send(inSlices(body))
}

/** Whether `gzip` is accepted (RFC 9110, 12.5.3). A weight of 0 refuses it. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '').split(',')
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

const SLICE_BYTES = 16 * 1024

/** A long body in slices, each cut when it is sent, so that the server sees whether a slow client reads any of them. */
export function inSlices(body: Buffer): Readable {
  return Readable.from(slicesOf(body))
}

function* slicesOf(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += SLICE_BYTES)
    yield body.subarray(start, start + SLICE_BYTES)
}
