import { AggregatorError } from './aggregator-error.js'

/**
 * Reads a base URL, with or without a path.
 * @returns it without a slash at its end
 * @throws AggregatorError ANSWER_INVALID, which names no credentials
 */
export function readBaseUrl(value: unknown): string {
  const text = String(value).trim()
  const url = parseUrl(text)
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw invalidBaseUrl('must be an http URL, such as https://quotes.example')
  if (url.username !== '' || url.password !== '')
    throw invalidBaseUrl('must have no user name and no password: add a header with the option fetch')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** Not every platform has `URL.canParse`. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function invalidBaseUrl(message: string): AggregatorError {
  const violations = [{ field: 'baseUrl', message }]
  return new AggregatorError('ANSWER_INVALID', `The call is not valid: baseUrl ${message}.`, {
    violations,
  })
}
