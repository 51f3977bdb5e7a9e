import type { EnvironmentReader } from './environment.js'

/** Where traces go (docs/decisions.md, D35). */
export interface TraceConfig {
  /** Where batches are posted. It may have a secret, which no message and no line of the log contains. */
  readonly url: string
  /** The header of that name, for a URL with a user and a password. */
  readonly authorization: string | undefined
  /** Share of rounds that are traced, 0 to 1. */
  readonly share: number
}

/** Reads where traces go; undefined when there are none. */
export function readTraces(env: EnvironmentReader): TraceConfig | undefined {
  const share = env.share('OTEL_TRACES_SAMPLER_ARG')
  const text = env.optional('OTEL_EXPORTER_OTLP_ENDPOINT')
  const target = text === undefined ? undefined : parseEndpoint(text)
  if (text !== undefined && target === undefined)
    env.refuse('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https URL such as http://collector:4318')
  return target && { ...target, share }
}

function parseEndpoint(text: string): Omit<TraceConfig, 'share'> | undefined {
  try {
    const url = new URL(text)
    if (!/^https?:$/.test(url.protocol)) return undefined
    const credentials = [url.username, url.password].map(decodeURIComponent).join(':')
    url.username = ''
    url.password = ''
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
    const authorization =
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
    return { url: url.href, authorization }
  } catch {
    return undefined
  }
}
