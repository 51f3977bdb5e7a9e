import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

/** Spellings of `/metrics` that a proxy or a router may take for it. */
export const METRICS_SPELLINGS = [
  '/%6detrics',
  '/%6Detrics',
  '/metric%73',
  '/%6d%65%74%72%69%63%73',
  '/metric%73?x',
  '/%6detrics#x',
  '/metrics#x',
  '/%2fmetrics',
  '/metrics%2f',
  '//metrics',
  '/metrics/',
  '/./metrics',
  '/x/../metrics',
  '/METRICS',
  '/metrics;x',
  '/metrics%00',
]

/** Requests a path exactly as it is written. fetch would normalise it. */
export async function rawGet(url: string, path: string) {
  const { hostname, port } = new URL(url)
  const [response] = (await once(request({ hostname, port, path }).end(), 'response')) as [IncomingMessage]
  const body = (await response.setEncoding('utf8').toArray()).join('')
  return { status: response.statusCode, body }
}
