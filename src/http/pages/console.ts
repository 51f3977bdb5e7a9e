import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Image } from '../../config/image.js'
import { sendImage } from './logos.js'

/** What the console may load (docs/decisions.md, D21). */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const PAGE = 'index.html'
/** The name of a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'
const ALWAYS_ASK = 'no-cache'
const GZIP = '.gz'

interface ConsoleFile {
  /** Path below the console's own, with `/` between folders. */
  readonly name: string
  readonly type: string
  readonly content: Buffer
  readonly compressed: Buffer
}

/** Whose instance the console shows. */
interface ConsoleIdentity {
  readonly name: string
  readonly logo: Image | undefined
  readonly version: string
}

const LOGO_PATH = '/logo'

/** The files of the built console. */
export type Console = readonly ConsoleFile[]

/** @returns undefined when the console is not built: a service that runs from its sources has none at first */
export function readConsole(folder = consoleFolder()): Console | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  )
  return names
    .filter((name) => names.includes(`${name}${GZIP}`))
    .map((name) => ({
      name,
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      content: readFileSync(join(folder, name)),
      compressed: readFileSync(join(folder, `${name}${GZIP}`)),
    }))
}

/**
 * Serves the console at `/` from memory, so that a slow client holds no file open. The addresses of its views are after `#`, so
 * that it needs no path of the API. Requests for the files do not count against a limit (docs/decisions.md, D8).
 */
export function registerConsole(server: FastifyInstance, files: Console, identity: ConsoleIdentity): void {
  const { logo } = identity
  if (logo !== undefined) server.get(LOGO_PATH, (_request, reply) => sendImage(reply, logo, ALWAYS_ASK))
  for (const built of files) {
    const isPage = built.name === PAGE
    const file = isPage ? withIdentity(built, identity) : built
    server.get(isPage ? '/' : `/${file.name}`, (request, reply) => {
      if (isPage) reply.header('content-security-policy', CONSOLE_POLICY)
      reply.header('cache-control', isPage ? ALWAYS_ASK : FOREVER)
      send(request, reply, file)
    })
  }
}

/** The page with what the console reads of the instance without a request. A logo replaces the icon of the build. */
function withIdentity(page: ConsoleFile, { name, logo, version }: ConsoleIdentity): ConsoleFile {
  const shown = escapeHtml(name)
  const tags = [
    `<meta name="application-name" content="${shown}">`,
    `<meta name="version" content="${escapeHtml(version)}">`,
    ...(logo === undefined
      ? []
      : [`<link rel="icon" href="${LOGO_PATH}">`, `<meta name="logo" content="${LOGO_PATH}">`]),
  ].join('')
  const html = page.content.toString('utf8')
  const withoutIcon = logo === undefined ? html : html.replace(/<link rel="icon"[^>]*>/, '')
  // Functions, because a name may have the patterns of a replacement.
  const text = withoutIcon
    .replace(/<title>[^<]*<\/title>/, () => `<title>${shown}</title>`)
    .replace('</head>', () => `${tags}</head>`)
  const content = Buffer.from(text)
  return { ...page, content, compressed: gzipSync(content) }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, content, compressed }: ConsoleFile,
): void {
  const isCompressed = acceptsGzip(request.headers['accept-encoding'])
  const body = isCompressed ? compressed : content
  if (isCompressed) reply.header('content-encoding', 'gzip')
  // Also for the other encoding: a cache keeps them apart. CORS may have set a value before.
  const vary = reply.getHeader('vary')
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`)
  reply.type(type).header('content-length', body.length).send(inSlices(body))
}

/** Whether `gzip` is accepted (RFC 9110, 12.5.3). A weight of 0 refuses it. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '').split(',')
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The build puts the console next to the bundled service. */
function consoleFolder(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../../packages/console/dist' : 'console'
  return fileURLToPath(new URL(path, import.meta.url))
}

const SLICE_BYTES = 16 * 1024

/** A long body in slices, so that the server sees whether a slow client reads any of them. */
export function inSlices(...parts: readonly Buffer[]): Readable {
  return Readable.from(parts.flatMap(slicesOf))
}

function slicesOf(part: Buffer): Buffer[] {
  const count = Math.ceil(part.length / SLICE_BYTES)
  return Array.from({ length: count }, (_, index) =>
    part.subarray(index * SLICE_BYTES, (index + 1) * SLICE_BYTES),
  )
}
