import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.js'
import { sendImage } from './logos.js'
import { readStaticFile, type StaticFile, sendStaticFile } from './static-files.js'

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

const PAGE = 'index.html'
/** The page in the place of one that does not exist. */
const LOST_PAGE = 'lost.html'
/** What its pages call an instance without a name. */
const USUAL_NAME = 'Quote aggregator'
/** The name of a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'
const ALWAYS_ASK = 'no-cache'
const GZIP = '.gz'

/** Whose instance the console shows. */
export interface ConsoleIdentity extends Pick<Config, 'consoleName' | 'consoleLogo' | 'consoleNotice'> {
  readonly version: string
}

const LOGO_PATH = '/logo'
/** Relative, for the prefix of any proxy. */
const ICON = `<link rel="icon" href=".${LOGO_PATH}"><meta name="logo" content=".${LOGO_PATH}">`
const LOGO = `<img src=".${LOGO_PATH}" alt="" height="24"><bdi>`

/** The files of the built console. */
export type Console = readonly StaticFile[]

/** @returns undefined when the console is not built: a service that runs from its sources has none at first */
export function readConsole(folder = consoleFolder()): Console | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  )
  return names
    .filter((name) => names.includes(`${name}${GZIP}`))
    .map((name) => readStaticFile(folder, name, `${name}${GZIP}`))
}

/**
 * Serves the console at `/` from memory, and its page for people at `/help`. The addresses of its views are after `#`, so that it needs
 * no path of the API. Requests for the files do not count against a limit (docs/decisions.md, D8).
 */
export function registerConsole(server: FastifyInstance, files: Console, identity: ConsoleIdentity): void {
  const { consoleLogo } = identity
  if (consoleLogo) server.get(LOGO_PATH, (_request, reply) => sendImage(reply, consoleLogo, ALWAYS_ASK))
  for (const built of files.filter(({ name }) => name !== LOST_PAGE)) {
    const isPage = built.name.endsWith('.html')
    const file = isPage ? withIdentity(built, identity) : built
    server.get(`/${file.name.replace(/^index\.html$|\.html$/, '')}`, (request, reply) => {
      if (isPage) reply.header('content-security-policy', CONSOLE_POLICY)
      reply.header('cache-control', isPage ? ALWAYS_ASK : FOREVER)
      sendStaticFile(request, reply, file)
    })
  }
}

/**
 * Builds the page that people see at a path that does not exist, whose links lead to the console below the prefix of any proxy.
 * @returns its HTML at a path; undefined when the console has none
 */
export function createLostPage(
  files: Console,
  identity: ConsoleIdentity,
): ((path: string) => string) | undefined {
  const page = files.find(({ name }) => name === LOST_PAGE)
  if (page === undefined) return undefined
  const html = withIdentity(page, identity).content.toString('utf8')
  return (path) => {
    const [folders = ''] = path.split('?')
    const up = '../'.repeat(folders.split('/').length - 2)
    return html.replaceAll('"./', () => `"./${up}`)
  }
}

/** A page with what it says of the instance without a request. A logo replaces the icon of the build, and stands before the name. */
export function withIdentity(page: StaticFile, identity: ConsoleIdentity): StaticFile {
  const { consoleName, consoleNotice = '', consoleLogo, version } = identity
  const shown = escapeHtml(consoleName)
  const tags = [
    `<meta name="application-name" content="${shown}">`,
    `<meta name="version" content="${escapeHtml(version)}">`,
    `<meta name="notice" content="${escapeHtml(consoleNotice)}">`,
  ].join('')
  const html = page.content.toString('utf8')
  const own = consoleLogo ? html.replace(/<link rel="icon"[^>]*>/, ICON).replace('<bdi>', LOGO) : html
  // Functions, because a name may have the patterns of a replacement.
  const text = own.replaceAll(USUAL_NAME, () => shown).replace('</head>', () => `${tags}</head>`)
  const content = Buffer.from(text)
  return { ...page, content, compressed: gzipSync(content) }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** The build puts the console next to the bundled service. */
function consoleFolder(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../../packages/console/dist' : 'console'
  return fileURLToPath(new URL(path, import.meta.url))
}
