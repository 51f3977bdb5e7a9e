const MAX_LENGTH = 2048
const BLANK_OR_CONTROL = /[\s\p{C}]/u

/** The rule of an endpoint URL as part of a JSON schema (ECMA-262, flag `u`). */
export const ENDPOINT_URL_SCHEMA = {
  maxLength: MAX_LENGTH,
  pattern: '^https?://[^\\s\\p{C}/?#@\\\\A-Z]+(/[^\\s\\p{C}?#\\\\]*)?$',
} as const

const MUST_BE = `must be an http or https URL of at most ${MAX_LENGTH} characters without credentials, query or fragment`

/**
 * Checks a solver's endpoint URL (docs/decisions.md, D5). It must be in the form in which URL parsers write it, so that all
 * programs that read the signed text see the same host. The slash of an empty path is optional.
 * @returns what the URL must be; undefined when it is accepted
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

/** Does not use `URL.canParse`: in Node 20 it fails for Latin-1 letters after many calls. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
