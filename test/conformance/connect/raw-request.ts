import { Buffer } from 'node:buffer'
import type { UniversalClientRequest } from '@connectrpc/connect/protocol'
import type { RawRequest } from './schema.js'

type Contents = Extract<RawRequest['body'], { case: 'unary' }>['value']

/**
 * Replaces what a client sends by the bytes of a case. The client still reads the response as that of its own request.
 * A case may ask for a compression that the server does not know. The server refuses by its name, so the bytes stay as they are.
 */
export function replaceRequest(
  { signal }: UniversalClientRequest,
  { verb, uri, headers, body }: RawRequest,
  url: string,
): UniversalClientRequest {
  const header = new Headers()
  for (const { name, value } of headers) for (const text of value) header.append(name, text)
  const bytes = bodyOf(body)
  // Node frames no body of DELETE over HTTP/1.1 by itself.
  if (bytes.length > 0) header.set('content-length', String(bytes.length))
  return {
    url: `${url}${uri}`,
    method: verb,
    header,
    body: chunksOf(bytes),
    ...(signal === undefined ? {} : { signal }),
  }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

function bodyOf(body: RawRequest['body']): Uint8Array {
  if (body.case === undefined) return new Uint8Array()
  if (body.case === 'unary') return contentOf(body.value)
  return Buffer.concat(
    body.value.items.flatMap(({ flags, length, payload }) => {
      const content = payload === undefined ? new Uint8Array() : contentOf(payload)
      const head = Buffer.alloc(5)
      head.writeUInt8(flags)
      head.writeUInt32BE(length ?? content.length, 1)
      return [head, content]
    }),
  )
}

function contentOf({ data }: Contents): Uint8Array {
  if (data.case === undefined) return new Uint8Array()
  if (data.case === 'text') return Buffer.from(data.value)
  return data.case === 'binary' ? data.value : data.value.value
}
