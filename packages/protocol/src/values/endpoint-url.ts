import { MAX_PORT, type TextRule } from '../field-rules.js'

const MAX_LENGTH = 2048
const BLANK_OR_CONTROL = /[\s\p{C}]/u

/** The rule of a solver's endpoint URL. `endpointUrlProblem` requires more than its pattern. */
export const ENDPOINT_URL: TextRule = {
  maxLength: MAX_LENGTH,
  pattern: /^https?:\/\/[^\s\p{C}/?#@\\A-Z]+(\/[^\s\p{C}?#\\]*)?$/u,
  mustBe: `must be an http or https URL of at most ${MAX_LENGTH} characters without credentials, query or fragment`,
}

/**
 * Checks a solver's endpoint URL (docs/decisions.md, D5). It must be in the form in which URL parsers write it, so that all
 * programs that read the signed text see the same host. The slash of an empty path is optional.
 * @returns what the URL must be; undefined when it is accepted
 */
export function endpointUrlProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH || BLANK_OR_CONTROL.test(text) || /[?#]/.test(text)) return ENDPOINT_URL.mustBe
  const url = parseUrl(text)
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url === undefined || !isHttp || url.username !== '' || url.password !== '') return ENDPOINT_URL.mustBe
  if (url.port === '0') return `must have a port of 1 to ${MAX_PORT}`
  const normal = url.href
  if (text === normal || `${text}/` === normal) return undefined
  if (normal.length > MAX_LENGTH) return ENDPOINT_URL.mustBe
  return `must be written in its normalised form: ${text.endsWith('/') ? normal : normal.replace(/\/$/, '')}`
}

/** Does not use `URL.canParse`: in Node 20 it fails for Latin-1 letters after many calls. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
