const MAX_LENGTH = 2048
const BLANK_OR_CONTROL = /[\s\p{C}]/u

/** What an endpoint URL matches, as a part of a JSON schema (ECMA-262, flag `u`). */
export const ENDPOINT_URL_SCHEMA = {
  maxLength: MAX_LENGTH,
  pattern: '^https?://[^\\s\\p{C}/?#@\\\\A-Z]+(/[^\\s\\p{C}?#\\\\]*)?$',
} as const

const MUST_BE = `must be an http or https URL of at most ${MAX_LENGTH} characters without credentials, query or fragment`

/**
 * Says what is wrong with a solver's endpoint URL (docs/decisions.md, D5). It must be written as URL parsers write it, so that
 * every program that reads the signed text sees the same host. The slash of an empty path may be left out.
 * @returns what it must be; undefined when it is accepted
 */
export function endpointUrlProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH || BLANK_OR_CONTROL.test(text) || /[?#]/.test(text)) return MUST_BE
  const url = parseUrl(text)
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url === undefined || !isHttp || url.username !== '' || url.password !== '') return MUST_BE
  if (url.port === '0') return 'must have a port of 1 to 65535'
  const normal = url.href
  if (text === normal || `${text}/` === normal) return undefined
  if (normal.length > MAX_LENGTH) return MUST_BE
  return `must be written in its normalised form: ${text.endsWith('/') ? normal : normal.replace(/\/$/, '')}`
}

/** Not by `URL.canParse`: in Node 20 it fails for Latin-1 letters once it is called often. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
