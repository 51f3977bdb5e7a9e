import { hash } from 'node:crypto'
import type { EnvironmentReader } from './environment.js'
import { readSmallFile } from './small-file.js'

/** An image that the service serves from memory. */
export interface Image {
  /** Changes with the content: 16 hex digits and the extension. */
  readonly name: string
  readonly type: string
  readonly content: Buffer
}

/** Limit of one image. */
const MAX_IMAGE_BYTES = 64 * 1024
/** What an image must be, to follow a sentence about it. */
export const AN_IMAGE = `a PNG, or an SVG without scripts and references to other files, of at most ${MAX_IMAGE_BYTES / 1024} KB`

const PNG_START = Buffer.from('89504e470d0a1a0a', 'hex')

/**
 * What an SVG must not have. Browsers run nothing of an SVG that a page shows as an image, and the service serves it with a policy that
 * forbids everything. These rules hold for someone who saves the file and opens it.
 */
const REFUSED_IN_SVG: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'a document type', pattern: /<!(doctype|entity)/i },
  { what: 'a processing instruction', pattern: /<\?(?!xml\s)/i },
  { what: 'a character reference by number', pattern: /&#/ },
  {
    what: 'an element that runs or loads something',
    pattern:
      /<\s*([\w.-]+:)?(script|foreignobject|iframe|embed|object|audio|video|handler|listener|link|set|animate\w*)\b/i,
  },
  { what: 'an event attribute', pattern: /[\s"'/]on[\w.:-]*\s*=/i },
  {
    what: 'a reference to another file',
    pattern: /(\bhref|\bsrc)\s*=\s*(?!["'](#|data:image\/(png|jpeg|webp|gif);))/i,
  },
  { what: 'a style that loads something', pattern: /@import|\\|url\(\s*(?!["']?#)/i },
]

/** Checks an image. @returns the problem when it is none that the service serves, to follow "which" */
export function toImage(content: Buffer): Image | string {
  if (content.length > MAX_IMAGE_BYTES) return `has ${content.length} bytes`
  const name = hash('sha256', content, 'hex').slice(0, 16)
  if (content.subarray(0, PNG_START.length).equals(PNG_START))
    return { name: `${name}.png`, type: 'image/png', content }
  const problem = svgProblem(content)
  return problem ?? { name: `${name}.svg`, type: 'image/svg+xml; charset=utf-8', content }
}

function svgProblem(content: Buffer): string | undefined {
  const text = content.toString('utf8')
  // The first element, after a declaration and comments.
  const isSvg = /^\ufeff?\s*</.test(text) && /<[a-z][\w:.-]*/i.exec(text)?.[0] === '<svg'
  if (!isSvg || text.includes('\0') || !Buffer.from(text).equals(content))
    return 'is neither a PNG nor an SVG'
  const refused = REFUSED_IN_SVG.find(({ pattern }) => pattern.test(text))
  return refused && `is an SVG with ${refused.what}`
}

/** Reads the operator's logo of the console; undefined without one. */
export function readConsoleLogo(env: EnvironmentReader): Image | undefined {
  const path = env.optional('CONSOLE_LOGO')
  const image = path === undefined ? undefined : readImage(path)
  if (typeof image !== 'string') return image
  env.refuse('CONSOLE_LOGO', `is ${path}, which ${image}: it must be ${AN_IMAGE}`)
  return undefined
}

/** Reads an image from a file. @returns the problem when it is none, to follow "which" */
export function readImage(path: string): Image | string {
  const file = readSmallFile(path, MAX_IMAGE_BYTES)
  return typeof file === 'string' ? file : toImage(file)
}
