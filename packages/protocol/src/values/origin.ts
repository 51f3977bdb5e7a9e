/** What the origin of an instance must be. */
export const AN_ORIGIN = 'an http or https origin without path or credentials, such as https://quotes.example'

/**
 * Reads the origin by which an instance is reached. A slash at its end is allowed.
 * @returns the origin in the normal form of the WHATWG URL standard, or undefined when `text` is not one
 */
export function parseOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, href } = new URL(text)
  return /^https?:$/.test(protocol) && href === `${origin}/` && !/[?#]/.test(text) ? origin : undefined
}

/** The origins by which a request with this `Host` may have reached the service: it does not know whether by TLS. */
export function originsOf(host: string): string[] {
  return ['http', 'https'].flatMap((scheme) => parseOrigin(`${scheme}://${host}`) ?? [])
}
