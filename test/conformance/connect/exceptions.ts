import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { CODECS, COMPRESSIONS, PROTOCOLS, STREAM_TYPE } from './schema.js'
import type { ConformanceCase } from './suites.js'

/** Cases that the server is not made for, and cases that fail, each with the reason. */
export interface Exceptions {
  readonly notApplicable: readonly (Condition & { readonly reason: string })[]
  /** `*` in a name stands for any text. */
  readonly failing: readonly { readonly cases: string; readonly reason: string }[]
}

/** Cases that have all of these properties. */
interface Condition {
  readonly suite?: string
  readonly protocol?: string
  readonly http?: number
  readonly codec?: string
  readonly compression?: string
  readonly streams?: readonly (keyof typeof STREAM_TYPE)[]
}

/** Reads the list of this server. */
export function readExceptions(): Exceptions {
  return parse(readFileSync(new URL('exceptions.yaml', import.meta.url), 'utf8'))
}

/** @returns why a case does not apply, or undefined when it does */
export function notApplicable(testCase: ConformanceCase, { notApplicable }: Exceptions): string | undefined {
  const { protocol, codec, compression, http, suite, request } = testCase
  const properties: Readonly<Record<string, unknown>> = {
    suite: suite.name,
    protocol: PROTOCOLS[protocol],
    http,
    codec: CODECS[codec],
    compression: COMPRESSIONS[compression],
  }
  return notApplicable.find(({ reason: _reason, streams, ...condition }) => {
    const isOfStreams =
      streams === undefined || streams.some((kind) => STREAM_TYPE[kind] === request.streamType)
    return isOfStreams && Object.entries(condition).every(([key, value]) => properties[key] === value)
  })?.reason
}

export function matcherOf(cases: string): RegExp {
  const parts = cases.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}
